// byte_pairs, learn_pairs, count_pairs, encode_pairs and decode_pairs: vocabularies, and texts as
// their tokens.

#include "ir/support/files/byte_pairs.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/host/list.h"
#include "frontend/elaborate/host/operators.h"
#include "ir/support/file.h"
#include "ir/support/files/kept_file.h"
#include "ir/support/files/mapped_file.h"
#include "ir/support/utf8.h"

namespace mtf::host {
namespace {

constexpr std::int64_t kMostPairs = 100'000;

// Bytes that are no UTF-8, as half of a letter, become U+FFFD.
std::string readable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::uint32_t length = first_code_point(bytes).length;
    text += length == 0 ? "\xEF\xBF\xBD" : bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

struct PairArguments {
  Operand first;
  Operand second;
};

// nullopt: an error, or not known yet.
std::optional<PairArguments> pair_arguments(Context& c, const HostFn& self, const ast::Call& call,
                                            std::vector<Formal> formals, SourceSpan span) {
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  if (!bound) {
    return std::nullopt;
  }
  const ast::Expr& first = *(*bound)[0].front();
  const ast::Expr& second = *(*bound)[1].front();
  PairArguments arguments{.first = {.value = evaluate(c, first), .span = first.span},
                          .second = {.value = evaluate(c, second), .span = second.span}};
  const bool known = !is_unknown(arguments.first.value) && !is_unknown(arguments.second.value);
  return known ? std::optional(std::move(arguments)) : std::nullopt;
}

std::optional<std::vector<TokenPair>> pairs_in(Reporter& report, const HostFn& self,
                                               const Operand& x) {
  const auto* text = x.value.get<std::string>();
  std::optional<std::vector<TokenPair>> pairs = text ? read_pairs(*text) : std::nullopt;
  if (text == nullptr) {
    static_cast<void>(wrong_argument(report, self, x, "the text that `byte_pairs` gives"));
  } else if (!pairs) {
    report.error(DiagKind::kBadArgument, x.span,
                 "this is no vocabulary, which `byte_pairs(text, count)` learns: each line has two "
                 "tokens, bytes or pairs of lines before it");
  }
  return pairs;
}

// A text, or the path of one, and how many pairs it is to give; nullopt after an error, or where
// they are not known yet.
struct LearnArguments {
  std::string text;
  std::int64_t count = 0;
  SourceSpan span;  // of the text
};
std::optional<LearnArguments> learn_arguments(Context& c, const HostFn& self, const ast::Call& call,
                                              std::string_view what, SourceSpan span) {
  const auto given =
      pair_arguments(c, self, call, {{.name = std::string(what)}, {.name = "count"}}, span);
  if (!given) {
    return std::nullopt;
  }
  const auto* text = given->first.value.get<std::string>();
  const std::optional<std::int64_t> count = as_int(given->second.value);
  if (text == nullptr) {
    static_cast<void>(wrong_argument(c.report, self, given->first, "a string"));
    return std::nullopt;
  }
  if (!count || *count < 0 || *count > kMostPairs) {
    c.report.error(DiagKind::kBadArgument, given->second.span,
                   "the number of pairs is from 0 to " + std::to_string(kMostPairs) +
                       "; a vocabulary has 256 bytes as well");
    return std::nullopt;
  }
  return LearnArguments{.text = *text, .count = *count, .span = given->first.span};
}

// Learned once, and kept. nullopt: `problem` says why.
std::optional<std::string> pairs_of_file(const std::string& path, std::int64_t count,
                                         std::string& problem) {
  const PlainFile file(path);
  if (!file.problem().empty() || file.size() == 0) {
    problem = file.problem().empty() ? "is empty" : file.problem();
    return std::nullopt;
  }
  const auto learn = [&](const std::string& place) {
    const MappedFile text(path, 0, file.size());
    return text.problem().empty()
               ? put_file(place,
                          text_of_pairs(learn_pairs({reinterpret_cast<const char*>(text.data()),
                                                     static_cast<std::size_t>(text.bytes())},
                                                    count)))
               : text.problem();
  };
  const KeptFile kept = kept_file(path, "pairs\n" + std::to_string(count), ".pairs", learn);
  problem = kept.problem;
  std::optional<std::string> pairs = problem.empty() ? mtf::text_of(kept.path) : std::nullopt;
  problem += problem.empty() && !pairs ? "has a vocabulary that cannot be read back" : "";
  return pairs;
}

}  // namespace

Value learn_pairs_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto given = learn_arguments(c, self, call, "path", span);
  if (!given || c.execution.written.contains(given->text)) {
    return unknown();  // a check writes no files
  }
  std::string problem;
  std::optional<std::string> pairs = pairs_of_file(given->text, given->count, problem);
  if (!pairs) {
    c.report.error(DiagKind::kFile, given->span, "`" + given->text + "` " + problem);
    return unknown();
  }
  return make(*std::move(pairs));
}

Value byte_pairs_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto given = learn_arguments(c, self, call, "text", span);
  return given ? make(text_of_pairs(learn_pairs(given->text, given->count))) : unknown();
}

Value count_pairs_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto given = evaluated_arguments(c, self, {{.name = "pairs"}}, call, span);
  if (!given) {
    return unknown();
  }
  const std::optional<std::vector<TokenPair>> pairs = pairs_in(c.report, self, given->front());
  return pairs ? make(static_cast<std::int64_t>(pairs->size())) : unknown();
}

Value encode_pairs_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto given = pair_arguments(c, self, call, {{.name = "text"}, {.name = "pairs"}}, span);
  if (!given) {
    return unknown();
  }
  const auto* text = given->first.value.get<std::string>();
  if (text == nullptr) {
    return wrong_argument(c.report, self, given->first, "a string");
  }
  const std::optional<std::vector<TokenPair>> pairs = pairs_in(c.report, self, given->second);
  if (!pairs) {
    return unknown();
  }
  PairEncoder encoder(*pairs);
  Values tokens;
  encoder.encode(*text, [&](const Tokens& word) {
    for (const Token token : word) {
      tokens.push_back(make(std::int64_t{token}));
    }
  });
  return bounded_list(c.report, std::move(tokens), span);
}

Value decode_pairs_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto given = pair_arguments(c, self, call, {{.name = "tokens"}, {.name = "pairs"}}, span);
  const auto* list = given ? given->first.value.get<List>() : nullptr;
  if (list == nullptr) {
    return given ? wrong_argument(c.report, self, given->first, "a list of tokens") : unknown();
  }
  const std::optional<std::vector<TokenPair>> pairs = pairs_in(c.report, self, given->second);
  if (!pairs) {
    return unknown();
  }
  const std::vector<std::string> bytes = bytes_of_tokens(*pairs, kMaxText);
  std::string text;
  for (const Value& item : *list->items) {
    const std::optional<std::int64_t> token = as_int(item);
    const auto count = static_cast<std::int64_t>(bytes.size());
    if (!token || *token < 0 || *token >= count) {
      const bool is_behind = token && *token >= count;
      c.report.error(DiagKind::kBadArgument, given->first.span,
                     mtf::host::to_string(item) + " is no token: they go from 0 to " +
                         std::to_string(count - 1) +
                         (is_behind ? "; `256 + count_pairs(pairs)` is how many there are" : ""));
      return unknown();
    }
    text += bytes[static_cast<std::size_t>(*token)];
    if (text.size() > kMaxText) {
      c.report.error(DiagKind::kOverflow, span,
                     "a text of more than " + std::to_string(kMaxText) + " bytes");
      return unknown();
    }
  }
  return make(readable(text));
}

}  // namespace mtf::host

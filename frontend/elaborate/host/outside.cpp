// What a program may ask of its surroundings: settings of the command line, and what files there
// are. All ranks of a run get the same answers, though a file may come, go and change meanwhile.

#include <algorithm>
#include <charconv>
#include <span>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "ir/support/diag.h"
#include "ir/support/file.h"
#include "ir/support/text/parse_number.h"
#include "ir/support/utf8.h"

namespace mtf::host {
namespace {

const std::string* text_of(Reporter& report, const HostFn& self, const Operand& operand) {
  const auto* text = operand.value.get<std::string>();
  if (text == nullptr) {
    report.error(
        DiagKind::kWrongType, operand.span,
        "`" + std::string(self.name) + "` takes a string; this is " + kind_of(operand.value));
  }
  return text;
}

}  // namespace

Value exists_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto operands = evaluated_arguments(c, self, {{.name = "path"}}, call, span);
  const std::string* path = operands ? text_of(c.report, self, operands->front()) : nullptr;
  if (path == nullptr) {
    return unknown();
  }
  const bool is_there = c.execution.written.contains(*path) || is_in_place(*path);
  return make(!c.execution.of_first_rank(is_there ? "there" : "").empty());
}

namespace {

constexpr std::int64_t kNowhere = -1;

// Where the text stops being UTF-8; kNowhere if nowhere.
std::int64_t not_utf8_at(std::string_view text) {
  const std::size_t size = text.size();
  while (!text.empty()) {
    const std::uint32_t length = first_code_point(text).length;
    if (length == 0) {
      return static_cast<std::int64_t>(size - text.size());
    }
    text.remove_prefix(length);
  }
  return kNowhere;
}

// "" or why the file cannot be read as a text.
std::string read_whole(const std::string& path, std::string& text) {
  const PlainFile file(path);
  if (!file.problem().empty()) {
    return file.problem();
  }
  const auto size = static_cast<std::size_t>(file.size());
  if (size > kMaxText) {
    return "has " + std::to_string(size) + " bytes; a text has at most " +
           std::to_string(kMaxText) + ", `read_bytes` makes a tensor of them";
  }
  text.resize(size);
  if (!file.read(0, std::as_writable_bytes(std::span(text)))) {
    return "ended while it was read";
  }
  const std::int64_t at = not_utf8_at(text);
  return at == kNowhere
             ? ""
             : "is no UTF-8 text at byte " + std::to_string(at) + "; `read_bytes` reads any file";
}

}  // namespace

Value read_text_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto operands = evaluated_arguments(c, self, {{.name = "path"}}, call, span);
  const std::string* path = operands ? text_of(c.report, self, operands->front()) : nullptr;
  if (path == nullptr || c.execution.written.contains(*path)) {
    return unknown();  // a check writes no files
  }
  std::string text;
  const std::string problem = c.execution.of_first_rank(read_whole(*path, text));
  text = c.execution.of_first_rank(std::move(text));
  if (!problem.empty()) {
    c.report.error(DiagKind::kFile, operands->front().span, "`" + *path + "` " + problem);
    return unknown();
  }
  return make(std::move(text));
}

Value saved_note_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto operands = evaluated_arguments(c, self, {{.name = "path"}}, call, span);
  const std::string* path = operands ? text_of(c.report, self, operands->front()) : nullptr;
  if (path == nullptr) {
    return unknown();
  }
  const RestoreRequest request{
      .path = *path, .globs = {}, .cast = false, .span = operands->front().span};
  std::optional<std::string> note = c.execution.note_of(request);
  return note ? make(*std::move(note)) : unknown();
}

namespace {

// The text as a value of the same kind as `like`; nullopt: it is none.
std::optional<Value> read_as(const Value& like, std::string_view text) {
  const auto value = [](const auto& number) {
    return number ? std::optional(make(*number)) : std::nullopt;
  };
  if (like.get<std::int64_t>() != nullptr) {
    return value(parse_number<std::int64_t>(text));
  }
  if (like.get<double>() != nullptr) {
    return value(parse_number<double>(text));
  }
  if (like.get<bool>() != nullptr) {
    const bool is_flag = text == "true" || text == "false";
    return is_flag ? std::optional(make(text == "true")) : std::nullopt;
  }
  return make(std::string(text));
}

}  // namespace

Value setting_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const auto operands =
      evaluated_arguments(c, self, {{.name = "name"}, {.name = "otherwise"}}, call, span);
  const std::string* name = operands ? text_of(c.report, self, operands->front()) : nullptr;
  if (name == nullptr) {
    return unknown();
  }
  c.settings.asked.insert(*name);
  std::optional<std::string_view> given;  // the last one counts
  for (const std::string_view one : c.settings.given) {
    given = one.starts_with(*name + "=") ? one : given;
  }
  if (!given) {
    return operands->back().value;
  }
  const std::optional<Value> value =
      read_as(operands->back().value, given->substr(name->size() + 1));
  if (!value) {
    c.report.error(DiagKind::kBadArgument, span,
                   "`--set " + std::string(*given) + "`, but " + kind_of(operands->back().value) +
                       " is needed");
  }
  return value ? *value : unknown();
}

namespace {

struct GivenOption {
  std::string text;
  std::string written;    // "--width 8", "--set width=8"
  bool is_alone = false;  // "--fast", which is true
};

std::string as_written(bool is_behind, const std::string& name, const std::string& text) {
  const std::string line = first_line(text);
  return (is_behind ? "--" : "--set ") + name + (is_behind && !text.empty() ? " " : "=") + line +
         (line.size() < text.size() ? "…" : "");
}

// The last one counts.
std::optional<GivenOption> given_option(const Settings& settings, const std::string& name) {
  std::optional<GivenOption> given;
  for (std::string_view one : settings.given) {
    const bool is_behind = one.starts_with("--");
    one.remove_prefix(is_behind ? 2 : 0);
    if (one.starts_with(name + "=")) {
      const std::string text(one.substr(name.size() + 1));
      given = {.text = text, .written = as_written(is_behind, name, text)};
    } else if (is_behind && one == name) {
      given = {.text = "true", .written = "--" + name, .is_alone = true};
    }
  }
  return given;
}

// As people write it: digits may be grouped.
std::string without_groups(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}

// Whether it is a number of that kind that has no place in 64 bits.
bool is_too_large(const Value& like, std::string_view text) {
  if (like.get<double>() != nullptr) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc::result_out_of_range && end == text.data() + text.size();
  }
  text.remove_prefix(text.starts_with('-') ? 1 : 0);
  return like.get<std::int64_t>() != nullptr && !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Value option_value(Reporter& report, Settings& settings, const ast::Name& name,
                   const Operand& otherwise) {
  settings.options.insert(name.text);
  const Value& like = otherwise.value;
  if (is_unknown(like)) {
    return unknown();
  }
  const bool is_number = like.get<std::int64_t>() != nullptr || like.get<double>() != nullptr;
  if (!is_number && like.get<bool>() == nullptr && like.get<std::string>() == nullptr) {
    report.error(DiagKind::kWrongType, otherwise.span,
                 "an `option` is a number, a string, `true` or `false`; this is " + kind_of(like));
    return unknown();
  }
  const std::optional<GivenOption> given = given_option(settings, name.text);
  if (!given) {
    return like;
  }
  if (given->is_alone && like.get<bool>() == nullptr) {
    report.error(DiagKind::kMissingArgument, name.span,
                 "`" + given->written + "` has no value, and `" + name.text + "` is " +
                     kind_of(like) + ", as its default is");
    return unknown();
  }
  const std::optional<Value> value =
      read_as(like, is_number ? without_groups(given->text) : given->text);
  if (!value && is_too_large(like, without_groups(given->text))) {
    report.error(DiagKind::kOverflow, name.span,
                 "`" + given->written + "` does not fit in 64 bits");
  } else if (!value) {
    report.error(DiagKind::kBadArgument, name.span,
                 "`" + given->written + "`, but `" + name.text + "` is " + kind_of(like) +
                     ", as its default is" +
                     (like.get<bool>() != nullptr ? "; it takes `true` or `false`" : ""));
  }
  return value ? *value : unknown();
}

namespace {

// What was given behind `--`.
void check_option(Reporter& report, const Settings& settings, std::string_view given) {
  const std::string name(given.substr(2, given.find('=') - 2));
  const std::vector<std::string> options(settings.options.begin(), settings.options.end());
  if (settings.options.contains(name)) {
    return;
  }
  const Suggestion suggestion = suggest(name, options);
  std::string text = suggestion.text;
  if (std::ranges::find(settings.before_dashes, "--" + name) != settings.before_dashes.end()) {
    text = "; that of mtf stands before `--`";
  } else if (settings.asked.contains(name)) {
    text = "; it is a setting: `--set " + name + "=…`, before `--`";
  } else if (name.starts_with("no-") && settings.options.contains(name.substr(3))) {
    text = "; did you mean `--" + name.substr(3) + "=false`?";
  } else if (options.empty()) {
    text = "; it has none: `option " + name + " = …` declares one";
  } else if (text.empty()) {
    text = "; it has " + quoted_list(options);
  }
  report.error(DiagKind::kUnknownName, {}, "the program has no option `" + name + "`" + text);
}

}  // namespace

void check_settings(Reporter& report, const Settings& settings) {
  std::set<std::string> all = settings.asked;
  all.insert(settings.options.begin(), settings.options.end());
  const std::vector<std::string> asked(all.begin(), all.end());
  for (const std::string_view one : settings.given) {
    if (one.starts_with("--")) {
      check_option(report, settings, one);
      continue;
    }
    const std::string name(one.substr(0, one.find('=')));
    if (!all.contains(name)) {
      const Suggestion suggestion = suggest(name, asked);
      report.warning(
          DiagKind::kUnknownName, {},
          "the program asked for no setting `" + name + "`" +
              (suggestion.text.empty() && !asked.empty() ? "; it asked for " + quoted_list(asked)
                                                         : suggestion.text));
    }
  }
}

}  // namespace mtf::host

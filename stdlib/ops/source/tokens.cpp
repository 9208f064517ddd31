// read_tokens: a text as tokens of a vocabulary of byte pairs. They are worked out once and kept in
// a file of their own, of which each rank maps its slice; so texts may be larger than memory.

#include "ir/kernel.h"
#include "ir/support/file.h"
#include "ir/support/files/byte_pairs.h"
#include "ir/support/files/kept_file.h"
#include "ir/support/files/mapped_file.h"
#include "runtime/kernels/strided.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/source/npy.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

// As many bytes as the largest token needs.
DType token_dtype(const std::vector<TokenPair>& pairs) {
  constexpr std::size_t kMostOfTwoBytes = 32'768;
  return kByteTokens + pairs.size() <= kMostOfTwoBytes ? DType::kI16 : DType::kI32;
}

class TokenPieces {
 public:
  TokenPieces(DType dtype, const PutElements& put) : dtype_(dtype), put_(put) {}

  void add(const Tokens& tokens) {
    constexpr std::size_t kPiece = 1 << 16;
    for (const Token token : tokens) {
      const auto* bytes = reinterpret_cast<const std::byte*>(&token);  // the low ones come first
      piece_.insert(piece_.end(), bytes, bytes + bytes_of(dtype_));
    }
    if (piece_.size() >= kPiece) {
      flush();
    }
  }
  void flush() {
    put_(piece_);
    piece_.clear();
  }

 private:
  DType dtype_;
  const PutElements& put_;
  std::vector<std::byte> piece_;
};

// "" or why the text has no tokens there.
std::string write_tokens(const std::string& text, const std::vector<TokenPair>& pairs,
                         const std::string& place) {
  const MappedFile file(text, 0, PlainFile(text).size());
  if (!file.problem().empty()) {
    return file.problem();
  }
  const std::string problem = write_npy_row(place, token_dtype(pairs), [&](const PutElements& put) {
    TokenPieces pieces(token_dtype(pairs), put);
    PairEncoder encoder(pairs);
    encoder.encode(
        {reinterpret_cast<const char*>(file.data()), static_cast<std::size_t>(file.bytes())},
        [&](const Tokens& word) { pieces.add(word); });
    pieces.flush();
  });
  return problem.empty() ? "" : "has tokens that cannot be kept: " + problem;
}

KeptFile tokens_of(const OpArgs& args, const std::vector<TokenPair>& pairs) {
  const std::string text = text_arg(args, "path");
  return kept_file(text, "tokens\n" + text_arg(args, "pairs"), ".npy",
                   [&](const std::string& place) { return write_tokens(text, pairs, place); });
}

std::optional<TensorType> tokens_type(OpCall& call, DiagSink& diags) {
  const std::string path = text_arg(call.args, "path");
  const std::optional<std::vector<TokenPair>> pairs = read_pairs(text_arg(call.args, "pairs"));
  if (!pairs) {
    diags.error(DiagKind::kBadArgument, call.span,
                spelled(call) +
                    " takes a vocabulary, which `byte_pairs(text, count)` learns: each "
                    "line has two tokens, bytes or pairs of lines before it");
    return std::nullopt;
  }
  const PlainFile text(path);
  KeptFile kept{.path = {}, .problem = text.problem()};
  if (kept.problem.empty() && text.size() == 0) {
    kept.problem = "is empty; a tensor has at least one element";
  } else if (kept.problem.empty()) {
    kept = tokens_of(call.args, *pairs);
  }
  NpyInfo info;
  if (kept.problem.empty()) {
    info = NpyFile(kept.path).info();
    kept.problem = info.problem.empty() ? "" : "has tokens in a file that " + info.problem;
  }
  if (!kept.problem.empty()) {
    diags.error(DiagKind::kFile, call.span, in_backticks(path) + " " + kept.problem);
    return std::nullopt;
  }
  if (call.args.find("dim") == nullptr) {
    call.args.set("dim", one_dim({.name = "position", .size = 0}));
  }
  if (!fit_new_dim(call, "dim", info.sizes.front(), diags)) {
    return std::nullopt;
  }
  return result_type(call, info.dtype, Shape({dim_arg(call.args, "dim")}), diags);
}

// What the type was worked out from, if it is still there.
std::optional<std::string> kept_tokens(const OpCall& call, std::string& problem) {
  const std::optional<std::vector<TokenPair>> pairs = read_pairs(text_arg(call.args, "pairs"));
  const KeptFile kept = tokens_of(call.args, pairs.value());
  const NpyInfo info = kept.problem.empty() ? NpyFile(kept.path).info() : NpyInfo{};
  problem = kept.problem.empty() ? info.problem : kept.problem;
  if (problem.empty() &&
      (info.sizes != std::vector{call.result.shape.volume()} || info.dtype != call.result.dtype)) {
    problem = "has other tokens than when it was looked at";
  }
  return problem.empty() ? std::optional(kept.path) : std::nullopt;
}

std::optional<FilePlace> tokens_place(const OpCall& call) {
  std::string problem;
  const std::optional<std::string> path = kept_tokens(call, problem);
  return path ? std::optional(FilePlace{.path = *path, .first = NpyFile(*path).info().data_begin})
              : std::nullopt;
}

void tokens_kernel(const KernelCall& call) {
  std::string problem;
  const std::optional<std::string> path = kept_tokens(call.call, problem);
  const auto bytes = static_cast<std::size_t>(call.out.shape.volume()) * bytes_of(call.out.dtype);
  const std::int64_t first = call.out.offset.empty() ? 0 : call.out.offset[0];
  if (path && !NpyFile(*path).read(first, {at_mutable(call.out, 0), bytes}).empty()) {
    problem = "ended while its tokens were read";
  }
  if (!problem.empty()) {
    fill_zero(call.out, false);
    call.host.fail(DiagKind::kFile, in_backticks(text_arg(call.call.args, "path")) + " " + problem);
  }
}

}  // namespace

const OpDef kReadTokens{
    .name = "read_tokens",
    .summary = "a text file as tokens of a vocabulary of byte pairs; each rank reads its own slice",
    .family = "files",
    .params = {{.name = "path", .kind = ParamKind::kText, .help = "the file, as long as it likes"},
               {.name = "pairs",
                .kind = ParamKind::kText,
                .help = "the vocabulary that `byte_pairs` or `learn_pairs` gives"},
               {.name = "dim",
                .kind = ParamKind::kNewDim,
                .required = false,
                .help = "the dim they lie along (position)"}},
    .shape_rule = "[position: N] for N tokens, as i16, or i32 with more than 32,512 pairs",
    .example = R"(append("read_tokens_example.txt", "the then there")
let pairs = byte_pairs("the then there", 4)
print read_tokens("read_tokens_example.txt", pairs)
)",
    .type = tokens_type,
    .space = kept_space,
    .kernel = tokens_kernel,
    .narrow = true,
    .file = FileUse::kReads,
    .place = tokens_place};

}  // namespace mtf::ops

#include "frontend/driver/ops/ops_forms.h"

#include <algorithm>
#include <array>

#include "ir/support/diag.h"

namespace mtf {
namespace {

// Operations that have a syntax of their own.
struct OwnSyntax {
  std::string_view name;
  std::string_view form;
};

constexpr std::array kOwnSyntax = std::to_array<OwnSyntax>({
    {"print", "print \"a line of {x}\", x"},
    {"assert", "assert c, \"a text of {x}\""},
    {"index", "x[dim: at]"},
    {"slice", "x[dim: begin..end]"},
    {"slice", "x[dim: begin..end as other]"},
    {"pin", "x @ [dim -> axis, ..]"},
    {"rename", "rename(x, dim -> other)"},
    {"rename", "rename(x, a -> b, c -> d)"},
});

constexpr std::array kLanguage = std::to_array<LanguageForm>({
    {"minimize", "minimize loss with optim.sgd(lr = 0.1)",
     "calls the rule for every param that the loss depends on, or those of a `params = …` behind "
     "it "
     "alone: the param, its gradient, the options",
     R"(import optim
dim io = 3
model m() {
  param w : f32[io] = ones
  return sum(square(w))
}
fn step() {
  let loss = m()
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
print step(), step()
)"},
    {"grad", "grad(loss, [w, b])", "gradients of a loss by tensors, of any order",
     "dim io = 3\nlet x = const([io], [1, 2, 3])\nprint grad(sum(square(x)), [x])\n"},
    {"partial_sums", "partial_sums(x, over = dim, ways = 2)",
     "what blocks of a summed dim add to a tensor, each on its own",
     R"(dim batch = 4, io = 3
fn halves(x: f32[batch, io]) { return partial_sums(sum(x -> [io]), over = batch, ways = 2) }
print halves(ones([batch, io]))
)"},
    {"split", "split(x, over = dim, parts = 2)",
     "equal ranges along a dim, or ranges of the sizes in a list, as a list",
     R"(dim io = 4
let low, high = split(range(io), over = io, parts = 2)
let first, others = split(range(io), over = io, parts = [1, 3])
print low, high, first, others
)"},
    {"unstack", "unstack(x, over = dim)", "what lies at each position of a dim, as a list",
     "dim io = 3\nlet a, b, c = unstack(range(io), over = io)\nprint a + b + c\n"},
    {"shape", "shape(x)", "the dims of a tensor", "print shape(ones([a: 2, b: 3]))\n"},
    {"size", "size(x)", "how many elements a tensor, shape or dim has",
     "print size(ones([a: 2, b: 3]))\n"},
    {"dtype", "dtype(x)", "the dtype of a tensor or a number",
     "print dtype(ones([a: 2])), dtype(2), dtype(0.5)\n"},
    {"wide_dtype", "wide_dtype(x)",
     "the dtype that a tensor is summed in: f32 for bf16 and f16, else its own",
     "let x = ones([a: 2], bf16)\nprint wide_dtype(x), cast(x, wide_dtype(x)) / 3\n"},
    {"len", "len(x)", "how many items a list, shape or string has", "print len([1, 2, 3])\n"},
    {"contains", "contains(list, item)",
     "whether a list has an item, a shape a dim, or a string another one",
     "dim io = 3\nprint contains([1, 2], 2), contains(shape(ones([io])), io), contains(\"abc\", "
     "\"d\")\n"},
    {"int", "int(x)",
     "a number without its fraction, or the whole number in a string; at top level also of a "
     "scalar "
     "tensor, on every rank. `cast` converts tensors",
     "dim io = 3\nlet n = int(sum(ones([io])))\nfor i in 0..n { print i, int(\"40\") + i }\n"},
    {"float", "float(x)",
     "a number, or that in a string, as a float; at top level also of a scalar tensor, on every "
     "rank. `cast` converts tensors",
     "dim io = 3\nlet loss = float(mean(ones([io])))\nif loss < 2.0 { print loss }\n"},
    {"list", "list(x)",
     "at top level the elements of a tensor, on every rank, in lists as deep as it has dims; the "
     "characters of a string, the dims of a shape",
     "dim a = 2, b = 3\nprint list(ones([a, b])), list(\"abc\")\n"},
    {"text", "text(x)", "a value as `print` shows it", "print text(2.5) + \"!\"\n"},
    {"chr", "chr(n)", "the character of a number (Unicode)", "print chr(97)\n"},
    {"ord", "ord(\"a\")", "the number of a character (Unicode)", "print ord(\"a\")\n"},
    {"read_text", "read_text(\"path\")", "a file of UTF-8 as a string",
     "append(\"read_text_example.txt\", \"a line\")\nprint read_text(\"read_text_example.txt\")\n"},
    {"scan", "scan(f, init, xs, over = dim)",
     "carries a value through `f(carry, x)` along a dim: the last carry, and the outputs stacked",
     R"(dim length = 4
fn add_up(total, x) {
  let sum = total + x
  return sum, sum
}
let total, sums = scan(add_up, 0.0, ones([length]), over = length)
print total, sums
)"},
    {"each", "each(f, x, over = dim, where = condition)",
     "one call of `f(x)` for all positions of a dim: what f declares has the dim as well; where "
     "the "
     "condition fails, `<-` changes nothing. With `pick = dim, at = position` it has that dim, "
     "too, "
     "of which f sees one position",
     R"(dim io = 3, layer = 2
fn scaled(x) {
  param w = normal([io], stddev = 0.5)
  return x * w
}
model net(x: f32[io]) { return each(scaled, x, over = layer) }
print shape(net(ones([io])))
)"},
    {"params", "params(net)",
     "the params of a model that was called, or, as in `params(\"*/w\")`, those whose paths a glob "
     "names: a "
     "list of variables",
     R"(dim io = 3
model net(x: f32[io]) {
  param w : f32[io] = ones
  return x * w
}
print grad(sum(net(ones([io]))), params(net))
for p in params("*/w") { p <- 0.9 * p }
)"},
    {"path", "path(x)", "the path of a param or state",
     R"(dim io = 3
model net(x: f32[io]) {
  param w : f32[io] = ones
  return x * w
}
print net(ones([io]))
for p in params(net) { print path(p) }
)"},
    {"is_named", "is_named(x, \"glob\")",
     "whether a param or state is one that a glob, or a list of them, names",
     R"(dim io = 3
model net(x: f32[io]) {
  param w : f32[io] = ones
  return x * w
}
print net(ones([io])), is_named(net.w, "*/w")
)"},
    {"recompute", "recompute { y = f(x) }",
     "what the block computes is computed again for gradients, and not kept until then",
     R"(dim io = 3
fn loss(x) {
  var y = x
  recompute { y = tanh(square(x)) }
  return sum(y)
}
let x = const([io], [1, 2, 3])
print grad(loss(x), x)
)"},
    {"gradient", "gradient dy { return dx }",
     "in a function, its own gradient: from that of each result, those of its parameters that are "
     "tensors of floats",
     R"(dim io = 3
fn clipped(x) {
  gradient dy { return clip(dy, -1, 1) }
  return square(x)
}
let x = const([io], [1, 2, 3])
print grad(sum(3 * clipped(x)), x)
)"},
    {"metric", "metric(\"name\", x, step = n)",
     "a number, or scalar tensor, of the step in progress or, at top level, taken last: "
     "`--metrics`",
     "metric(\"validation\", 1.5)\n"},
    {"byte_pairs", "byte_pairs(text, count)",
     "a vocabulary of so many pairs of bytes and pairs, learned from a text: a line for each",
     "print byte_pairs(\"the then there\", 2)\n"},
    {"learn_pairs", "learn_pairs(\"corpus.txt\", count)",
     "such a vocabulary, learned from a file of any size; learned once, and kept",
     R"(append("learn_pairs_example.txt", "the then there")
print learn_pairs("learn_pairs_example.txt", 2)
)"},
    {"count_pairs", "count_pairs(pairs)",
     "how many pairs a vocabulary has: fewer than were asked for where no more come twice",
     "dim vocab = 256 + count_pairs(byte_pairs(\"the then there\", 1000))\nprint vocab\n"},
    {"encode_pairs", "encode_pairs(text, pairs)", "a text as a list of tokens of such a vocabulary",
     "print encode_pairs(\"the\", byte_pairs(\"the then there\", 2))\n"},
    {"decode_pairs", "decode_pairs(tokens, pairs)", "the text of a list of tokens",
     "print decode_pairs([257, 256], byte_pairs(\"the then there\", 2))\n"},
    {"exists", "exists(\"path\")", "whether a file, or a checkpoint, is there",
     "print exists(\"none.npy\")\n"},
    {"save", R"(save "net.safetensors", keep = 3, part_bytes = n, note = "text")",
     "every param and state, and where the random stream is, at top level: the old file stays "
     "until "
     "the new one is whole; `keep`: of files whose names differ in their last number, the newest; "
     "`part_bytes`: "
     "of tensors in one file",
     R"(state step : i32[] = zeros
for i in 0..6 {
  step <- step + 1
  if int(step) % 2 == 0 { save "save_example/step_{int(step)}.safetensors", keep = 2 }
}
print exists("save_example/step_6.safetensors"), exists("save_example/step_2.safetensors")
)"},
    {"restore", R"(restore "net.safetensors" as "vit/encoder/*", from = "encoder/*", cast = true)",
     "the variables of a file that `save` or another program wrote, on any mesh and layout, now or "
     "when they are declared; `as`: those that a glob, or one of a list, names; `from`: "
     "what the file calls these, where that is another name; `cast`: of another dtype, too",
     R"(state step : i32[] = zeros
step <- step + 3
save "restore_example.safetensors"
step <- step + 4
restore "restore_example.safetensors"
print step
)"},
    {"saved_note", "saved_note(\"net.safetensors\")",
     "the text that a checkpoint was saved with: `save PATH, note = TEXT`",
     R"(state count : i32[] = zeros
save "saved_note_example.safetensors", note = "what it was learned from"
print saved_note("saved_note_example.safetensors")
)"},
    {"setting", "setting(\"name\", 1)",
     "what `--set name=TEXT` says, or the second argument, whose kind it has",
     "print setting(\"depth\", 4)\n"},
    {"hardware_profile",
     "hardware_profile(flops = 1e12, memory_bandwidth = 1e11, latency = 1e-6, "
     "bandwidth_per_rank = 1e9)",
     "rates of a machine, for `mesh … of`; stdlib/hardware.mtf has examples",
     R"(let mine = hardware_profile(flops = 1e12, memory_bandwidth = 1e11, latency = 1e-6,
                            bandwidth_per_rank = 1e9)
mesh line = [x: 2] of mine
print 1
)"},
});

// An argument of the kind that is not a tensor.
std::string sample(const OpParam& param) {
  if (!param.choices.empty()) {
    return '"' + std::string(param.choices.front()) + '"';
  }
  switch (param.kind) {
    case ParamKind::kDims:
    case ParamKind::kNewDims:
    case ParamKind::kShape:
    case ParamKind::kNewShape:
      return "[dims]";
    case ParamKind::kDType:
      return "f32";
    case ParamKind::kInt:
    case ParamKind::kInts:
      return "1";
    case ParamKind::kReal:
      return "0.5";
    case ParamKind::kBool:
      return "true";
    case ParamKind::kText:
      return "\"text\"";
    case ParamKind::kData:
      return "[1, 2]";
    case ParamKind::kTensor:
    case ParamKind::kTensors:
    case ParamKind::kDim:
    case ParamKind::kNewDim:
      break;
  }
  return "dim";
}

bool is_result(const OpParam& param) {
  return param.name == "to";
}

// Several tensors are a list where something else must follow them.
std::string tensors_text(const OpDef& op) {
  const bool more = std::ranges::any_of(op.params, [](const OpParam& param) {
    return param.required && param.kind != ParamKind::kTensor &&
           param.kind != ParamKind::kTensors && !is_result(param);
  });
  return more ? "[x, y]" : "x, y";
}

std::string positional_text(const OpDef& op, const OpParam& param) {
  const bool is_name =
      param.kind == ParamKind::kTensor || param.kind == ParamKind::kInt || sample(param) == "dim";
  return param.kind == ParamKind::kTensors ? tensors_text(op)
         : is_name                         ? std::string(param.name)
                                           : sample(param);
}

bool is_positional(const OpParam& param) {
  return param.kind == ParamKind::kTensor || param.kind == ParamKind::kTensors ||
         (param.required && param.name != "over");
}

std::string result_text(const OpDef& op) {
  const auto to = std::ranges::find_if(op.params, is_result);
  return sample(*to) == "[dims]" ? " -> [dims]" : " -> other";
}

// How many parameters a call without names gives: what stands before one that is needed comes
// along.
std::size_t count_in_order(const OpDef& op) {
  const auto last = std::find_if(op.params.rbegin(), op.params.rend(), [](const OpParam& param) {
    return is_positional(param) && !is_result(param);
  });
  return static_cast<std::size_t>(op.params.rend() - last);
}

// `result`: with the dims after `->`, and then without `over`, which would say the same.
std::string call_text(const OpDef& op, bool result) {
  std::vector<std::string> positional;
  std::vector<std::string> named;
  const std::size_t in_order = count_in_order(op);
  for (std::size_t i = 0; i < op.params.size(); ++i) {
    const OpParam& param = op.params[i];
    const bool is_said = result && param.name == "over" && !param.required;
    if (is_result(param)) {
      continue;
    }
    if (i < in_order && param.name != "over") {
      positional.push_back(positional_text(op, param));
    } else if (!is_said) {
      named.push_back(std::string(param.name) + " = " + sample(param));
    }
  }
  const std::string all = joined(named, ", ");
  const std::string first = joined(positional, ", ") + (result ? result_text(op) : "");
  const bool both = !first.empty() && !all.empty();
  return std::string(op.name) + "(" + first + (both ? ", " : "") + all + ")";
}

}  // namespace

std::vector<std::string> forms_of(const OpDef& op) {
  std::vector<std::string> forms;
  for (const OwnSyntax& own : kOwnSyntax) {
    if (own.name == op.name) {
      forms.emplace_back(own.form);
    }
  }
  if (!forms.empty()) {
    return forms;
  }
  const auto to = std::ranges::find_if(op.params, is_result);
  if (to == op.params.end() || !to->required) {
    forms.push_back(call_text(op, /*result=*/false));
  }
  if (to != op.params.end()) {
    forms.push_back(call_text(op, /*result=*/true));
  }
  return forms;
}

std::span<const LanguageForm> language_forms() {
  return kLanguage;
}

}  // namespace mtf

#include "frontend/elaborate/names/elsewhere.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ir/dtype.h"

namespace mtf::host {
namespace {

using NamePair = std::pair<std::string_view, std::string_view>;

constexpr auto kNamesElsewhere =
    std::to_array<NamePair>({{"float32", "f32"},      {"float64", "f64"},
                             {"double", "f64"},       {"int32", "i32"},
                             {"int64", "i64"},        {"long", "i64"},
                             {"bfloat16", "bf16"},    {"float16", "f16"},
                             {"half", "f16"},         {"int8", "i8"},
                             {"int16", "i16"},        {"short", "i16"},
                             {"uint8", "u8"},         {"True", "true"},
                             {"False", "false"},      {"arange", "range"},
                             {"matmul", "einsum"},    {"dot", "einsum"},
                             {"mm", "einsum"},        {"bmm", "einsum"},
                             {"tensordot", "einsum"}, {"swish", "silu"},
                             {"reduce_sum", "sum"},   {"reduce_mean", "mean"},
                             {"reduce_max", "max"},   {"constant", "const"},
                             {"tensor", "const"},     {"array", "const"},
                             {"asarray", "const"},    {"permute", "transpose"},
                             {"view", "reshape"},     {"astype", "cast"},
                             {"cat", "concat"},       {"concatenate", "concat"},
                             {"clamp", "clip"},       {"full", "fill"},
                             {"randn", "normal"},     {"rand", "uniform"},
                             {"eye", "diag"},         {"pi", "3.141592653589793"}});

// Folded, and members of the standard library's modules.
constexpr auto kMembersElsewhere =
    std::to_array<NamePair>({{"linear", "dense"},
                             {"fullyconnected", "dense"},
                             {"conv", "convolution"},
                             {"conv1d", "convolution"},
                             {"conv2d", "convolution"},
                             {"conv3d", "convolution"},
                             {"embed", "embedding"},
                             {"batchnorm1d", "batch_norm"},
                             {"batchnorm2d", "batch_norm"},
                             {"batchnorm3d", "batch_norm"},
                             {"layernormalization", "layer_norm"},
                             {"batchnormalization", "batch_norm"},
                             {"instancenorm", "group_norm"},
                             {"crossentropy", "softmax_cross_entropy"},
                             {"crossentropyloss", "softmax_cross_entropy"},
                             {"nllloss", "softmax_cross_entropy"},
                             {"bceloss", "sigmoid_cross_entropy"},
                             {"bcewithlogitsloss", "sigmoid_cross_entropy"},
                             {"binarycrossentropy", "sigmoid_cross_entropy"},
                             {"mseloss", "mse"},
                             {"meansquarederror", "mse"},
                             {"huberloss", "huber"},
                             {"smoothl1loss", "huber"},
                             {"multiheadattention", "self_attention"},
                             {"scaleddotproductattention", "attend"},
                             {"encoderlayer", "layer"},
                             {"decoderlayer", "layer"},
                             {"block", "layer"},
                             {"xaviernormal", "glorot_normal"},
                             {"xavieruniform", "glorot_uniform"},
                             {"kaimingnormal", "he_normal"},
                             {"kaiminguniform", "he_uniform"},
                             {"clipgradnorm", "clip_by_global_norm"},
                             {"clipbynorm", "clip_by_global_norm"},
                             {"cosineannealing", "cosine"},
                             {"cosineannealinglr", "cosine"},
                             {"cosinedecay", "cosine"},
                             {"onecyclelr", "one_cycle"},
                             {"warmup", "warm_up"}});

struct Habit {
  std::vector<std::string_view> names;
  std::string text;
};

const std::vector<Habit>& habits() {
  static const std::vector<Habit> all = {
      {{"pass"}, "an empty block is `{ }`"},
      {{"None", "null", "nil"}, "every name has a value here"},
      {{"inf", "nan", "infinity", "NaN"},
       "numbers are finite: a mask takes -1e30, and `isfinite`, `isinf` and `isnan` ask about "
       "tensors"},
      {{"f8", "u16", "u32", "u64", "uint16", "uint32", "uint64", "complex", "c64"},
       "the dtypes are " + std::string(dtype_names())},
      {{"np", "numpy", "jnp", "jax", "torch", "tf", "tensorflow", "random", "math"},
       "operations need no module, as `normal([n])`; `mtf ops` lists them"},
      {{"squeeze"}, "a dim goes where one of its elements is picked, as in `x[d: 0]`"},
      {{"unsqueeze", "expand_dims", "newaxis"},
       "dims match by name, so none has to be added before they do"},
      {{"param", "state"}, "a statement declares one, as `param w : f32[n] = zeros`"},
      {{"save"}, "a statement saves, without parentheses: `save \"net.safetensors\"`"},
      {{"restore"}, "a statement restores, without parentheses: `restore \"net.safetensors\"`"},
      {{"import"}, "a statement imports, without parentheses: `import nn`"},
      {{"use"}, "a statement selects a layout, without parentheses: `use layout NAME`"},
      {{"dim"}, "a statement declares one, without parentheses: `dim n = 4`"},
      {{"mesh"}, "a statement declares one: `mesh grid = [rows: 2, cols: 2]`"},
      {{"layout"}, "a statement declares one: `layout NAME on grid { batch -> rows }`"},
      {{"option"}, "a statement declares one, without parentheses: `option steps = 100`"},
      {{"with"}, "a block has it: `with precision bf16 { … }`, `with layout NAME { … }`"},
      {{"recompute"}, "a block has it, without parentheses: `recompute { … }`"},
      {{"expect"}, "a statement expects: `expect ENTRY { peak_memory < 1 GiB }`"},
      {{"minimize", "maximize"},
       "a statement takes a step, without parentheses: `minimize loss with optim.sgd(lr = 0.1)`, "
       "of `-gain` to make a gain larger"},
      {{"backward", "zero_grad"},
       "`minimize loss with optim.sgd(lr = 0.1)` takes a step, and `grad(loss, params(net))` gives "
       "gradients"},
      {{"cuda", "cpu", "device", "to"},
       "a layout says where tensors are, and `cast(x, f64)` changes their dtype"}};
  return all;
}

// LayerNorm, layer_norm and layernorm are one.
std::string folded_name(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c != '_') {
      text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return text;
}

}  // namespace

std::string_view name_here(std::string_view elsewhere) {
  const auto* found = std::ranges::find(kNamesElsewhere, elsewhere, &NamePair::first);
  return found == kNamesElsewhere.end() ? "" : found->second;
}

std::string habit_text(std::string_view elsewhere) {
  for (const Habit& habit : habits()) {
    if (std::ranges::find(habit.names, elsewhere) != habit.names.end()) {
      return "; " + habit.text;
    }
  }
  return "";
}

std::string_view member_called(std::string_view name, std::span<const std::string> members) {
  const std::string wanted = folded_name(name);
  const auto* found = std::ranges::find(kMembersElsewhere, wanted, &NamePair::first);
  const std::string_view known = found == kMembersElsewhere.end() ? "" : found->second;
  const auto member = std::ranges::find_if(members, [&](const std::string& candidate) {
    return candidate == known || folded_name(candidate) == wanted;
  });
  return member == members.end() ? std::string_view() : *member;
}

Suggestion suggest_known(std::string_view name, std::span<const std::string> candidates) {
  if (const std::string_view here = name_here(name); !here.empty()) {
    return {.text = "; did you mean `" + std::string(here) + "`?", .fix = std::string(here)};
  }
  std::string habit = habit_text(name);
  return habit.empty() ? suggest(name, candidates)
                       : Suggestion{.text = std::move(habit), .fix = {}};
}

}  // namespace mtf::host

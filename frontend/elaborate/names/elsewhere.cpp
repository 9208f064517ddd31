#include "frontend/elaborate/names/elsewhere.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mtf::host {
namespace {

using NamePair = std::pair<std::string_view, std::string_view>;

constexpr auto kNamesElsewhere = std::to_array<NamePair>({{"float32", "f32"},
                                                          {"float64", "f64"},
                                                          {"double", "f64"},
                                                          {"int32", "i32"},
                                                          {"int64", "i64"},
                                                          {"long", "i64"},
                                                          {"bfloat16", "bf16"},
                                                          {"float16", "f16"},
                                                          {"half", "f16"},
                                                          {"int8", "i8"},
                                                          {"int16", "i16"},
                                                          {"short", "i16"},
                                                          {"uint8", "u8"},
                                                          {"True", "true"},
                                                          {"False", "false"},
                                                          {"pi", "3.141592653589793"},
                                                          {"absolute", "abs"},
                                                          {"fabs", "abs"},
                                                          {"subtract", "sub"},
                                                          {"multiply", "mul"},
                                                          {"divide", "div"},
                                                          {"true_divide", "div"},
                                                          {"floor_divide", "floordiv"},
                                                          {"remainder", "mod"},
                                                          {"power", "pow"},
                                                          {"float_power", "pow"},
                                                          {"negative", "neg"},
                                                          {"rint", "round"},
                                                          {"around", "round"},
                                                          {"fix", "trunc"},
                                                          {"sgn", "sign"},
                                                          {"clamp", "clip"},
                                                          {"swish", "silu"},
                                                          {"gt", "greater"},
                                                          {"ge", "greater_equal"},
                                                          {"lt", "less"},
                                                          {"le", "less_equal"},
                                                          {"eq", "equal"},
                                                          {"ne", "not_equal"},
                                                          {"isclose", "close"},
                                                          {"allclose", "close"},
                                                          {"logical_xor", "not_equal"},
                                                          {"invert", "bitwise_not"},
                                                          {"fmax", "maximum"},
                                                          {"fmin", "minimum"},
                                                          {"reduce_sum", "sum"},
                                                          {"reduce_mean", "mean"},
                                                          {"reduce_max", "max"},
                                                          {"amax", "max"},
                                                          {"amin", "min"},
                                                          {"product", "prod"},
                                                          {"stddev", "std"},
                                                          {"cumulative_sum", "cumsum"},
                                                          {"cumulative_prod", "cumprod"},
                                                          {"logcumsumexp", "cumlogsumexp"},
                                                          {"arange", "range"},
                                                          {"arccos", "acos"},
                                                          {"arcsin", "asin"},
                                                          {"arctan", "atan"},
                                                          {"arctan2", "atan2"},
                                                          {"matmul", "einsum"},
                                                          {"dot", "einsum"},
                                                          {"mm", "einsum"},
                                                          {"bmm", "einsum"},
                                                          {"mv", "einsum"},
                                                          {"addmm", "einsum"},
                                                          {"baddbmm", "einsum"},
                                                          {"inner", "einsum"},
                                                          {"vdot", "einsum"},
                                                          {"tensordot", "einsum"},
                                                          {"constant", "const"},
                                                          {"tensor", "const"},
                                                          {"array", "const"},
                                                          {"asarray", "const"},
                                                          {"as_tensor", "const"},
                                                          {"full", "fill"},
                                                          {"eye", "diag"},
                                                          {"identity_matrix", "diag"},
                                                          {"diagonal", "diag"},
                                                          {"diag_embed", "diag"},
                                                          {"diagflat", "diag"},
                                                          {"slogdet", "logdet"},
                                                          {"permute", "transpose"},
                                                          {"swapaxes", "transpose"},
                                                          {"swapdims", "transpose"},
                                                          {"moveaxis", "transpose"},
                                                          {"movedim", "transpose"},
                                                          {"view", "reshape"},
                                                          {"flatten", "reshape"},
                                                          {"ravel", "reshape"},
                                                          {"unflatten", "reshape"},
                                                          {"astype", "cast"},
                                                          {"cat", "concat"},
                                                          {"concatenate", "concat"},
                                                          {"hstack", "concat"},
                                                          {"vstack", "concat"},
                                                          {"expand", "broadcast"},
                                                          {"expand_as", "broadcast"},
                                                          {"flip", "reverse"},
                                                          {"fliplr", "reverse"},
                                                          {"flipud", "reverse"},
                                                          {"narrow", "slice"},
                                                          {"unbind", "unstack"},
                                                          {"chunk", "split"},
                                                          {"tensor_split", "split"},
                                                          {"array_split", "split"},
                                                          {"repeat_interleave", "repeat"},
                                                          {"take", "gather"},
                                                          {"take_along_dim", "gather"},
                                                          {"take_along_axis", "gather"},
                                                          {"index_select", "gather"},
                                                          {"index_add", "scatter_add"},
                                                          {"scatter_reduce", "scatter_add"},
                                                          {"segment_sum", "scatter_add"},
                                                          {"histc", "bincount"},
                                                          {"randn", "normal"},
                                                          {"rand", "uniform"},
                                                          {"randint", "integers"},
                                                          {"randperm", "permutation"},
                                                          {"multinomial", "categorical"},
                                                          {"detach", "stop_gradient"},
                                                          {"checkpoint", "recompute"},
                                                          {"remat", "recompute"},
                                                          {"vmap", "each"},
                                                          {"tolist", "list"},
                                                          {"numel", "size"},
                                                          {"item", "float"}});

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

#include "frontend/elaborate/names/elsewhere.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mtf::host {
namespace {

using Equivalent = std::pair<std::string_view, std::string_view>;  // there, and here

constexpr auto kWordsElsewhere =
    std::to_array<Equivalent>({{"float32", "f32"},      {"float64", "f64"},
                               {"double", "f64"},       {"int32", "i32"},
                               {"int64", "i64"},        {"long", "i64"},
                               {"bfloat16", "bf16"},    {"float16", "f16"},
                               {"half", "f16"},         {"int8", "i8"},
                               {"int16", "i16"},        {"short", "i16"},
                               {"uint8", "u8"},         {"True", "true"},
                               {"False", "false"},      {"arange", "range"},
                               {"matmul", "einsum"},    {"dot", "einsum"},
                               {"swish", "silu"},       {"reduce_sum", "sum"},
                               {"reduce_mean", "mean"}, {"reduce_max", "max"},
                               {"constant", "const"},   {"permute", "transpose"},
                               {"full", "fill"},        {"randn", "normal"},
                               {"rand", "uniform"},     {"pi", "3.141592653589793"}});

// Folded, and members of the standard library's modules.
constexpr auto kMembersElsewhere =
    std::to_array<Equivalent>({{"linear", "dense"},
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

template <std::size_t N>
std::string_view equivalent_in(const std::array<Equivalent, N>& table, std::string_view name) {
  const auto* found = std::ranges::find(table, name, &Equivalent::first);
  return found == table.end() ? std::string_view() : found->second;
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

std::string_view here_called(std::string_view name) {
  return equivalent_in(kWordsElsewhere, name);
}

std::string_view member_called(std::string_view name, std::span<const std::string> members) {
  const std::string wanted = folded_name(name);
  const std::string_view known = equivalent_in(kMembersElsewhere, wanted);
  const auto member = std::ranges::find_if(members, [&](const std::string& candidate) {
    return candidate == known || folded_name(candidate) == wanted;
  });
  return member == members.end() ? std::string_view() : *member;
}

}  // namespace mtf::host

#include "frontend/elaborate/names/elsewhere.h"

#include <algorithm>
#include <array>

namespace mtf::host {
namespace {

struct Called {
  std::string_view here;
  std::string_view elsewhere;  // with spaces between them
};

constexpr auto kNamesElsewhere =
    std::to_array<Called>({{"f32", "float32 fp32"},
                           {"f64", "float64 fp64 double"},
                           {"i32", "int32"},
                           {"i64", "int64 long"},
                           {"bf16", "bfloat16"},
                           {"f16", "float16 fp16 half"},
                           {"i8", "int8"},
                           {"i16", "int16 short"},
                           {"u8", "uint8"},
                           {"true", "True"},
                           {"false", "False"},
                           {"3.141592653589793", "pi"},
                           {"abs", "absolute fabs"},
                           {"sub", "subtract"},
                           {"mul", "multiply"},
                           {"div", "divide true_divide"},
                           {"floordiv", "floor_divide"},
                           {"mod", "remainder"},
                           {"pow", "power float_power"},
                           {"neg", "negative"},
                           {"round", "rint around"},
                           {"trunc", "fix"},
                           {"sign", "sgn"},
                           {"clip", "clamp"},
                           {"silu", "swish"},
                           {"greater", "gt"},
                           {"greater_equal", "ge"},
                           {"less", "lt"},
                           {"less_equal", "le"},
                           {"equal", "eq"},
                           {"not_equal", "ne logical_xor"},
                           {"close", "isclose allclose"},
                           {"bitwise_not", "invert"},
                           {"maximum", "fmax"},
                           {"minimum", "fmin"},
                           {"sum", "reduce_sum"},
                           {"mean", "reduce_mean"},
                           {"max", "reduce_max amax"},
                           {"min", "amin"},
                           {"prod", "product"},
                           {"std", "stddev"},
                           {"cumsum", "cumulative_sum"},
                           {"cumprod", "cumulative_prod"},
                           {"cumlogsumexp", "logcumsumexp"},
                           {"range", "arange"},
                           {"acos", "arccos"},
                           {"asin", "arcsin"},
                           {"atan", "arctan"},
                           {"atan2", "arctan2"},
                           {"einsum", "matmul dot mm bmm mv addmm baddbmm inner vdot tensordot"},
                           {"const", "constant tensor array asarray as_tensor"},
                           {"fill", "full"},
                           {"diag", "eye identity_matrix diagonal diag_embed diagflat"},
                           {"logdet", "slogdet"},
                           {"transpose", "permute swapaxes swapdims moveaxis movedim"},
                           {"reshape", "view flatten ravel unflatten"},
                           {"cast", "astype"},
                           {"concat", "cat concatenate hstack vstack"},
                           {"broadcast", "expand expand_as"},
                           {"reverse", "flip fliplr flipud"},
                           {"slice", "narrow"},
                           {"unstack", "unbind"},
                           {"split", "chunk tensor_split array_split"},
                           {"repeat", "repeat_interleave"},
                           {"gather", "take take_along_dim take_along_axis index_select"},
                           {"scatter_add", "index_add scatter_reduce segment_sum"},
                           {"bincount", "histc"},
                           {"normal", "randn random_normal standard_normal"},
                           {"uniform", "rand random_uniform"},
                           {"integers", "randint"},
                           {"permutation", "randperm"},
                           {"categorical", "multinomial"},
                           {"stop_gradient", "detach"},
                           {"recompute", "checkpoint remat"},
                           {"each", "vmap"},
                           {"list", "tolist"},
                           {"size", "numel"},
                           {"float", "item"}});

// Folded, and members of the standard library's modules.
constexpr auto kMembersElsewhere = std::to_array<Called>(
    {{"dense", "linear fullyconnected"},
     {"convolution", "conv conv1d conv2d conv3d"},
     {"embedding", "embed"},
     {"batch_norm", "batchnorm1d batchnorm2d batchnorm3d batchnormalization"},
     {"layer_norm", "layernormalization"},
     {"group_norm", "instancenorm"},
     {"softmax_cross_entropy", "crossentropy crossentropyloss nllloss"},
     {"sigmoid_cross_entropy", "bceloss bcewithlogitsloss binarycrossentropy"},
     {"mse", "mseloss meansquarederror"},
     {"huber", "huberloss smoothl1loss"},
     {"self_attention", "multiheadattention"},
     {"attend", "scaleddotproductattention"},
     {"layer", "encoderlayer decoderlayer block"},
     {"glorot_normal", "xaviernormal"},
     {"glorot_uniform", "xavieruniform"},
     {"he_normal", "kaimingnormal"},
     {"he_uniform", "kaiminguniform"},
     {"clip_by_global_norm", "clipgradnorm clipbynorm"},
     {"cosine", "cosineannealing cosineannealinglr cosinedecay"},
     {"one_cycle", "onecyclelr"},
     {"warm_up", "warmup"}});

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

// "": none.
std::string_view here_of(std::span<const Called> table, std::string_view elsewhere) {
  const auto found = std::ranges::find_if(
      table, [&](const Called& name) { return is_among(name.elsewhere, elsewhere); });
  return found == table.end() ? "" : found->here;
}

}  // namespace

bool is_among(std::string_view words, std::string_view word) {
  return (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

std::string_view name_here(std::string_view elsewhere) {
  return here_of(kNamesElsewhere, elsewhere);
}

std::string_view member_called(std::string_view name, std::span<const std::string> members) {
  const std::string wanted = folded_name(name);
  const std::string_view known = here_of(kMembersElsewhere, wanted);
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

// What has no name here that it could be called by, and what to write in its place.

#include <array>

#include "frontend/elaborate/names/elsewhere.h"
#include "ir/dtype.h"

namespace mtf::host {
namespace {

struct Habit {
  std::string_view names;  // with spaces between them
  std::string_view text;
};

constexpr std::string_view kOtherDTypes = "f8 u16 u32 u64 uint16 uint32 uint64 complex c64";

constexpr auto kHabits = std::to_array<Habit>(
    {{"pass", "an empty block is `{ }`"},
     {"None null nil", "every name has a value here"},
     {"inf nan infinity NaN",
      "numbers are finite: a mask takes -1e30, and `isfinite`, `isinf` and `isnan` ask about "
      "tensors"},
     {"np numpy jnp jax torch tf tensorflow random math",
      "operations need no module, as `normal([n])`; `mtf ops` lists them"},
     {"var", "`variance(x, over = d)` is the variance"},
     {"relu6", "write `clip(x, 0, 6)`"},
     {"log2", "write `log(x) / log(2.0)`"},
     {"log10", "write `log(x) / log(10.0)`"},
     {"exp2", "write `2.0 ** x`"},
     {"asinh arcsinh", "write `log(x + sqrt(x * x + 1))`"},
     {"acosh arccosh", "write `log(x + sqrt(x * x - 1))`"},
     {"atanh arctanh", "write `0.5 * (log1p(x) - log1p(-x))`"},
     {"hypot", "write `sqrt(a * a + b * b)`"},
     {"lerp", "write `a + t * (b - a)`"},
     {"deg2rad radians", "write `x * 3.141592653589793 / 180`"},
     {"rad2deg degrees", "write `x * 180 / 3.141592653589793`"},
     {"nan_to_num", "write `where(isnan(x), 0.0, x)`"},
     {"masked_fill masked_fill_", "write `where(mask, value, x)`"},
     {"count_nonzero", "write `sum(cast(x != 0, i32), over = d)`"},
     {"searchsorted bucketize digitize",
      "write `sum(cast(edges <= x, i32), over = edge)`, where `edges` have the dim `edge`"},
     {"linspace", "write `low + (high - low) * range(d, dtype = f32) / (size(d) - 1)`"},
     {"meshgrid",
      "dims match by name: `range(y)` and `range(x)` make a grid where they meet, as in `range(y) "
      "* range(x)`"},
     {"cov",
      "with c = `x - mean(x, over = n)` it is `einsum(c, rename(c, d -> e) -> [d, e])` over how "
      "many there are"},
     {"median quantile percentile kthvalue",
      "`nth_largest(x, n, over = d)` is the element at a place in the order"},
     {"nonzero argwhere masked_select unique",
      "dims have sizes before values are known; `where(c, a, b)` and sums of what a mask keeps do "
      "without"},
     {"zeros_like ones_like empty_like full_like randn_like rand_like empty",
      "a shape is a value, as in `zeros(shape(x))`"},
     {"clone copy deepcopy contiguous", "a value never changes, so none is copied"},
     {"normalize", "write `x / norm(x, over = d)`"},
     {"cosine_similarity",
      "write `sum(a * b, over = d) / (norm(a, over = d) * norm(b, over = d))`"},
     {"l1_loss", "write `mean(abs(x - y))`"},
     {"kl_div", "write `sum(p * (log(p) - log(q)), over = d)`"},
     {"gumbel_softmax", "write `softmax((x + gumbel(shape(x))) / temperature, over = d)`"},
     {"avg_pool1d avg_pool2d avg_pool3d", "write `pool(x, [h, w], 2, by = \"mean\")`"},
     {"max_pool1d max_pool2d max_pool3d", "write `pool(x, [h, w], 2)`"},
     {"adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d",
      "write `mean(x, over = [h, w])`, of all there is"},
     {"upsample interpolate upsample_nearest",
      "`repeat(x, row, times = 2)` has every element twice"},
     {"pixel_shuffle pixel_unshuffle", "`reshape` joins dims and takes them apart"},
     {"no_grad enable_grad inference_mode requires_grad requires_grad_",
      "`minimize` and `grad` alone compute gradients; `stop_gradient(x)` keeps them from x"},
     {"manual_seed seed PRNGKey",
      "`mtf run --seed N` seeds all random numbers, `normal([n], seed = 1)` one call"},
     {"autocast", "a block has it: `with precision bf16 { … }`"},
     {"jit compile", "a program is compiled as a whole, by itself"},
     {"cond", "a choice is an `if` statement, or `where(c, a, b)` on tensors"},
     {"fori_loop while_loop", "`for` and `while` are statements, in functions too"},
     {"pmap shard_map pjit psum pmean all_reduce all_gather all_to_all reduce_scatter allreduce "
      "with_sharding_constraint",
      "a layout says which dims are split over which axes; collectives follow from it"},
     {"squeeze", "a dim goes where one of its elements is picked, as in `x[d: 0]`"},
     {"unsqueeze expand_dims newaxis",
      "dims match by name, so none has to be added before they do"},
     {"param state", "a statement declares one, as `param w : f32[n] = zeros`"},
     {"save", "a statement saves, without parentheses: `save \"net.safetensors\"`"},
     {"restore", "a statement restores, without parentheses: `restore \"net.safetensors\"`"},
     {"import", "a statement imports, without parentheses: `import nn`"},
     {"use", "a statement selects a layout, without parentheses: `use layout NAME`"},
     {"dim", "a statement declares one, without parentheses: `dim n = 4`"},
     {"mesh", "a statement declares one: `mesh grid = [rows: 2, cols: 2]`"},
     {"layout", "a statement declares one: `layout NAME on grid { batch -> rows }`"},
     {"option", "a statement declares one, without parentheses: `option steps = 100`"},
     {"with", "a block has it: `with precision bf16 { … }`, `with layout NAME { … }`"},
     {"recompute", "a block has it, without parentheses: `recompute { … }`"},
     {"expect", "a statement expects: `expect ENTRY { peak_memory < 1 GiB }`"},
     {"minimize maximize",
      "a statement takes a step, without parentheses: `minimize loss with optim.sgd(lr = 0.1)`, of "
      "`-gain` to make a gain larger"},
     {"backward zero_grad",
      "`minimize loss with optim.sgd(lr = 0.1)` takes a step, and `grad(loss, params(net))` gives "
      "gradients"},
     {"cuda cpu device to",
      "a layout says where tensors are, and `cast(x, f64)` changes their dtype"}});

}  // namespace

std::string habit_text(std::string_view elsewhere) {
  if (is_among(kOtherDTypes, elsewhere)) {
    return "; the dtypes are " + std::string(dtype_names());
  }
  for (const Habit& habit : kHabits) {
    if (is_among(habit.names, elsewhere)) {
      return "; " + std::string(habit.text);
    }
  }
  return "";
}

}  // namespace mtf::host

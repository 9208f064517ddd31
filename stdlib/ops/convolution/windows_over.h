// What convolutions and pooling share: how windows lie over some dims of a tensor, as arguments say
// it, and the names and sizes of the dims that have one index for each window.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/op.h"

namespace mtf {

// Windows over the dim `big`: index p of `small` and t of `taps` meet its index
// p * stride + t * dilation - low; around it are `low` and `high` places that hold nothing.
struct WindowAxis {
  Dim big = {};
  Dim small = {};
  Dim taps = {};
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t low = 0;
  std::int64_t high = 0;

  [[nodiscard]] std::int64_t length() const { return (taps.size - 1) * dilation + 1; }
  // How many windows there are; 0 or less: not one.
  [[nodiscard]] std::int64_t windows() const {
    const std::int64_t room = big.size + low + high - length();
    return room < 0 ? 0 : room / stride + 1;
  }
};

using WindowAxes = std::vector<WindowAxis>;

// Whether windows lie over a dim of that name, or it has an index for each of them.
[[nodiscard]] bool is_window_dim(const WindowAxes& axes, std::string_view name);

// ---- rules: false or nullopt after an error --------------------------------------------------

// The axes that "window" names, dims of the first operand, with "stride" and "dilation"; as the
// dims that windows lie over or, if `up`, as those with one index for each.
[[nodiscard]] std::optional<WindowAxes> window_axes(const OpCall& call, bool up, DiagSink& diags);
// The numbers of an argument; nullopt: it has none.
[[nodiscard]] std::optional<std::vector<std::int64_t>> numbers_of(const OpArgs& args,
                                                                  std::string_view name);
// One whole number for each axis, at least `least`; `otherwise` where none is given.
[[nodiscard]] std::optional<std::vector<std::int64_t>> ints_for(
    const OpCall& call, std::string_view name, std::size_t count, std::int64_t least,
    std::int64_t otherwise, DiagSink& diags);
// The size of a window, from a dim that operand `k` has, or from "size".
[[nodiscard]] bool take_taps(const OpCall& call, std::size_t k, WindowAxes& axes, DiagSink& diags);
[[nodiscard]] bool take_sizes(const OpCall& call, WindowAxes& axes, DiagSink& diags);
// What is around, from "padding", where both sizes or, if `up`, that of `small` is known.
[[nodiscard]] bool take_padding(const OpCall& call, bool up, WindowAxes& axes, DiagSink& diags);
// How many windows there are: the size of `small`.
[[nodiscard]] bool count_windows(const OpCall& call, WindowAxes& axes, DiagSink& diags);
// The dims of the result for the windows: those that "at" names, else, of the dims behind `->`,
// those of the same name and those that `is_other` does not know, in order. Without `->` the same
// names. Sizes are those behind `->`; 0: not said.
[[nodiscard]] bool place_windows(const OpCall& call, bool up,
                                 const std::function<bool(const Dim&)>& is_other, WindowAxes& axes,
                                 DiagSink& diags);
// Where windows are read backwards: the size of `big`, which several may be, from what is written
// or the least.
[[nodiscard]] bool fit_big(const OpCall& call, WindowAxes& axes, DiagSink& diags);

// Puts all that into the arguments as numbers for each axis.
void normalise(OpArgs& args, const WindowAxes& axes, bool up);
// The same read again.
[[nodiscard]] WindowAxes axes_of(const OpArgs& args, bool up);

// ---- arguments of gradients -------------------------------------------------------------------

// The same for a result of that shape.
[[nodiscard]] OpArgs with_result(const OpArgs& args, Shape to);
// With the windows read the other way round as well; `up`: how they are read so far.
[[nodiscard]] OpArgs turned(const OpArgs& args, bool up, Shape to);

// Adds the windows through which an operand is read, of which `space` has the loops; its dims of
// the axes are in `of`.
void add_windows(IterationSpace& space, std::size_t operand, const Shape& of,
                 const WindowAxes& axes, bool up);

}  // namespace mtf

// What a session says of a value: its type, and of a tensor what each rank holds.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/driver/repl/plan_device.h"
#include "frontend/elaborate/context.h"

namespace mtf {

// A tensor, and where it is.
struct Placed {
  TensorType type;
  ValueLayout layout;
};

// Of a tensor that the session holds; nullopt of anything else.
[[nodiscard]] std::optional<Placed> placed(const host::Value& value, const PlanDevice& device);

// "f32[batch 64/rows, hidden 128/cols]"
[[nodiscard]] std::string type_text(const Placed& tensor, const Mesh& mesh);
// "32x64 a rank, 8.0 KiB"; on one rank "64x128, 32.0 KiB"
[[nodiscard]] std::string slice_text(const Placed& tensor, const Mesh& mesh);

[[nodiscard]] std::int64_t bytes_a_rank(const Placed& tensor, const Mesh& mesh);

// "layout on grid[rows: 2] { batch -> rows }   in use". `chosen`: the layout in use; null for none.
[[nodiscard]] std::string layout_text(const Layout& declared, const Layout* chosen);

// What stands behind "h : ". Of several values, one line each.
[[nodiscard]] std::string value_text(const host::Value& value, const PlanDevice& device,
                                     const host::Context& context);
// {"name": "h", "kind": "tensor", "dtype": …, "dims": […], "slice": […], "bytes": …}
[[nodiscard]] std::string value_json(std::string_view name, const host::Value& value,
                                     const PlanDevice& device, const host::Context& context);

// {"saved": "a.mtf", "statements": 3}: what a command has done. Keys as in `Fields`.
using Field = std::variant<std::string, std::int64_t, double, std::vector<std::string>>;
using Fields = std::vector<std::pair<std::string_view, Field>>;
[[nodiscard]] std::string fields_json(const Fields& fields);

// What a tensor was and is, where a layout is switched; bytes that came to a rank, if they are
// known.
struct Moved {
  std::string name;
  std::string from;
  std::string to;
  std::string slice;
  std::optional<std::int64_t> bytes;
};
// {"in_use": "both on …", "moved": [{"name", "from", "to", "slice", "bytes"}, …]}
[[nodiscard]] std::string moved_json(std::string_view in_use, const std::vector<Moved>& moved);

// {"print": "2"}: a line of the program's own, or the value of an expression.
[[nodiscard]] std::string printed_json(std::string_view line);

}  // namespace mtf

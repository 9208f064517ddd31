// What a session says of a value: its type, and of a tensor what each rank holds.

#pragma once

#include <optional>
#include <string>

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

// What stands behind "h : ". Of several values, one line each.
[[nodiscard]] std::string value_text(const host::Value& value, const PlanDevice& device,
                                     const host::Context& context);
// {"name": "h", "kind": "tensor", "dtype": …, "dims": […], "slice": […], "bytes": …}
[[nodiscard]] std::string value_json(std::string_view name, const host::Value& value,
                                     const PlanDevice& device, const host::Context& context);

// {"print": "2"}: a line of the program's own, or the value of an expression.
[[nodiscard]] std::string printed_json(std::string_view line);

}  // namespace mtf

// Parts that several reports share. Only the files that write JSON see nlohmann's, which takes
// seconds to compile.

#pragma once

#include <nlohmann/json.hpp>

#include "ir/support/source.h"
#include "lowering/spmd.h"

namespace mtf {

using Json = nlohmann::ordered_json;

[[nodiscard]] std::string dump(const Json& json);
[[nodiscard]] Json axes_json(const Mesh& mesh, const Axes& axes);  // ["rows", "cols"]
[[nodiscard]] Json mesh_json(const Mesh& mesh);  // [{"axis": "rows", "size": 2}, …]
[[nodiscard]] Json totals_json(const Totals& totals, const Mesh& mesh);
[[nodiscard]] std::int32_t line_of(const SourceMap& sources, SourceSpan span);  // 0: of no file

}  // namespace mtf

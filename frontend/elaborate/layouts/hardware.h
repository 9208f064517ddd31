// Hardware profiles: what `mesh … of NAME` and `--hardware NAME` stand for.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/elaborate/context.h"
#include "ir/layout/hardware.h"

namespace mtf::host {

// What `mtf calibrate` measured; a program may name it before that.
inline constexpr std::string_view kThisMachine = "this_machine";

// A value of the file, of the standard module `hardware`, or this machine. nullopt: none.
[[nodiscard]] std::optional<HardwareChoice> hardware_named(Context& c, std::string_view name);
[[nodiscard]] std::vector<std::string> hardware_names(Context& c);
// False after an error that names those there are.
[[nodiscard]] bool hardware_exists(Context& c, const ast::Name& name);

}  // namespace mtf::host

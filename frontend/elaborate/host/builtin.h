// Functions of the language itself, which work on host values: shape, size, grad, …

#pragma once

#include <span>
#include <string_view>

#include "frontend/elaborate/evaluate.h"

namespace mtf::host {

struct HostFn {
  std::string_view name;
  std::string_view summary;
  Value (*call)(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span);
};

[[nodiscard]] std::span<const HostFn> host_functions();
[[nodiscard]] const HostFn* find_host_fn(std::string_view name);  // or null

// exists(path) and setting(name, otherwise), in outside.cpp.
[[nodiscard]] Value exists_call(Context& c, const HostFn& self, const ast::Call& call,
                                SourceSpan span);
[[nodiscard]] Value setting_call(Context& c, const HostFn& self, const ast::Call& call,
                                 SourceSpan span);
// Warns of settings on the command line that the program never asked for.
void check_settings(Reporter& report, const Settings& settings);
// hardware_profile(flops = …), in hardware.cpp.
[[nodiscard]] Value hardware_call(Context& c, const HostFn& self, const ast::Call& call,
                                  SourceSpan span);
// grad(loss, targets), in differentiate.cpp.
[[nodiscard]] Value grad_call(Context& c, const HostFn& self, const ast::Call& call,
                              SourceSpan span);

}  // namespace mtf::host

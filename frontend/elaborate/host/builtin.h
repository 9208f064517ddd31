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

// "`len` takes a list; this is an int"; unknown.
[[nodiscard]] Value wrong_argument(Reporter& report, const HostFn& self, const Operand& x,
                                   std::string_view wanted);

// In convert.cpp.
[[nodiscard]] Value int_call(Context& c, const HostFn& self, const ast::Call& call,
                             SourceSpan span);
[[nodiscard]] Value float_call(Context& c, const HostFn& self, const ast::Call& call,
                               SourceSpan span);
[[nodiscard]] Value list_call(Context& c, const HostFn& self, const ast::Call& call,
                              SourceSpan span);
[[nodiscard]] Value text_call(Context& c, const HostFn& self, const ast::Call& call,
                              SourceSpan span);
[[nodiscard]] Value chr_call(Context& c, const HostFn& self, const ast::Call& call,
                             SourceSpan span);
[[nodiscard]] Value ord_call(Context& c, const HostFn& self, const ast::Call& call,
                             SourceSpan span);
// exists(path), read_text(path) and setting(name, otherwise), in outside.cpp.
[[nodiscard]] Value read_text_call(Context& c, const HostFn& self, const ast::Call& call,
                                   SourceSpan span);
[[nodiscard]] Value exists_call(Context& c, const HostFn& self, const ast::Call& call,
                                SourceSpan span);
[[nodiscard]] Value setting_call(Context& c, const HostFn& self, const ast::Call& call,
                                 SourceSpan span);
// Warns of settings on the command line that the program never asked for.
void check_settings(Reporter& report, const Settings& settings);
// hardware_profile(flops = …), in hardware.cpp.
[[nodiscard]] Value hardware_call(Context& c, const HostFn& self, const ast::Call& call,
                                  SourceSpan span);
// scan(f, init, xs, over = d), in scan.cpp.
[[nodiscard]] Value scan_call(Context& c, const HostFn& self, const ast::Call& call,
                              SourceSpan span);
// grad(loss, targets), in differentiate.cpp.
[[nodiscard]] Value grad_call(Context& c, const HostFn& self, const ast::Call& call,
                              SourceSpan span);

}  // namespace mtf::host

// Functions of the language itself, which work on host values: shape, size, grad, …

#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/elaborate/evaluate.h"

namespace mtf::host {

struct Formal;

struct HostFn {
  std::string_view name;
  std::string_view summary;
  Value (*call)(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span);
  bool effect = false;  // its own, or that of a function it calls
};

[[nodiscard]] std::span<const HostFn> host_functions();
[[nodiscard]] const HostFn* find_host_fn(std::string_view name);  // or null

// The one argument, `x`; null after an error.
[[nodiscard]] const ast::Expr* only_argument(Context& c, const HostFn& self, const ast::Call& call,
                                             SourceSpan span);
// The plain arguments, evaluated; nullopt after an error, or where one is unknown.
[[nodiscard]] std::optional<std::vector<Operand>> evaluated_arguments(
    Context& c, const HostFn& self, const std::vector<Formal>& formals, const ast::Call& call,
    SourceSpan span);
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
// split(x, over, parts) and unstack(x, over), in parts.cpp.
[[nodiscard]] Value split_call(Context& c, const HostFn& self, const ast::Call& call,
                               SourceSpan span);
[[nodiscard]] Value unstack_call(Context& c, const HostFn& self, const ast::Call& call,
                                 SourceSpan span);
// The gradients of parts that together are all of a tensor: `join` puts them together. One by one,
// each would be as large as the whole.
using JoinParts = std::function<ValueId(Builder&, std::span<const ValueId>)>;
void join_gradients(Context& c, const Tensor& whole, std::vector<ValueId> parts, SourceSpan span,
                    const JoinParts& join);
[[nodiscard]] JoinParts stacked_along(const Dim& dim);
// exists(path), read_text(path), saved_note(path) and setting(name, otherwise), in outside.cpp.
[[nodiscard]] Value read_text_call(Context& c, const HostFn& self, const ast::Call& call,
                                   SourceSpan span);
[[nodiscard]] Value saved_note_call(Context& c, const HostFn& self, const ast::Call& call,
                                    SourceSpan span);
// byte_pairs(text, count), learn_pairs(path, count), count_pairs(pairs), encode_pairs(text, pairs)
// and decode_pairs(tokens, pairs), in byte_pairs.cpp.
[[nodiscard]] Value learn_pairs_call(Context& c, const HostFn& self, const ast::Call& call,
                                     SourceSpan span);
[[nodiscard]] Value byte_pairs_call(Context& c, const HostFn& self, const ast::Call& call,
                                    SourceSpan span);
[[nodiscard]] Value count_pairs_call(Context& c, const HostFn& self, const ast::Call& call,
                                     SourceSpan span);
[[nodiscard]] Value encode_pairs_call(Context& c, const HostFn& self, const ast::Call& call,
                                      SourceSpan span);
[[nodiscard]] Value decode_pairs_call(Context& c, const HostFn& self, const ast::Call& call,
                                      SourceSpan span);
// At top level a number, or a scalar tensor that every rank has; unknown after an error.
[[nodiscard]] Operand number_here(Context& c, const HostFn& self, const ast::Expr& expr);
// metric(name, x, step), in metric.cpp.
[[nodiscard]] Value metric_call(Context& c, const HostFn& self, const ast::Call& call,
                                SourceSpan span);
[[nodiscard]] Value exists_call(Context& c, const HostFn& self, const ast::Call& call,
                                SourceSpan span);
[[nodiscard]] Value setting_call(Context& c, const HostFn& self, const ast::Call& call,
                                 SourceSpan span);
// The value of an `option`: what the command line says, or the default; unknown after an error.
[[nodiscard]] Value option_value(Reporter& report, Settings& settings, const ast::Name& name,
                                 const Operand& otherwise);
// Warns of settings on the command line that the program never asked for; an option that it does
// not have is an error.
void check_settings(Reporter& report, const Settings& settings);
// hardware_profile(flops = …), in hardware.cpp.
[[nodiscard]] Value hardware_call(Context& c, const HostFn& self, const ast::Call& call,
                                  SourceSpan span);
// scan(f, init, xs, over = d), in loops/scan.cpp.
[[nodiscard]] Value scan_call(Context& c, const HostFn& self, const ast::Call& call,
                              SourceSpan span);
// params(of), path(x) and is_named(x, globs), in variable_names.cpp.
[[nodiscard]] Value params_call(Context& c, const HostFn& self, const ast::Call& call,
                                SourceSpan span);
[[nodiscard]] Value path_call(Context& c, const HostFn& self, const ast::Call& call,
                              SourceSpan span);
[[nodiscard]] Value is_named_call(Context& c, const HostFn& self, const ast::Call& call,
                                  SourceSpan span);
// A list of the params that models own and globs name; unknown after an error.
[[nodiscard]] Value params_of(Context& c, const Operand& of);
// each(f, x, over = d, where = c), in loops/each.cpp.
[[nodiscard]] Value each_call(Context& c, const HostFn& self, const ast::Call& call,
                              SourceSpan span);
// partial_sums(x, over = d, ways = n), in partial_sums.cpp.
[[nodiscard]] Value partial_sums_call(Context& c, const HostFn& self, const ast::Call& call,
                                      SourceSpan span);
// grad(loss, targets), in differentiate.cpp.
[[nodiscard]] Value grad_call(Context& c, const HostFn& self, const ast::Call& call,
                              SourceSpan span);

}  // namespace mtf::host

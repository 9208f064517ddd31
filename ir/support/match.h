// `match(variant, cases…)`: traversal of a closed set of types; a forgotten one does not compile.

#pragma once

#include <utility>
#include <variant>

namespace mtf {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;  // clang-tidy 14 cannot deduce aggregates by itself

template <typename Variant, typename... Fs>
decltype(auto) match(Variant&& value, Fs&&... cases) {
  return std::visit(Overloaded{std::forward<Fs>(cases)...}, std::forward<Variant>(value));
}

}  // namespace mtf

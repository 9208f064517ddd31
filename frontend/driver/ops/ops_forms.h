// How operations and what else a program calls are written, for `mtf ops`: text that parses.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace mtf {

// "einsum(x, y -> [dims])": one line for each way to call it.
[[nodiscard]] std::vector<std::string> forms_of(const OpDef& op);

// What is no operation: statements, and functions of the host.
struct LanguageForm {
  std::string_view name;
  std::string_view form;
  std::string_view summary;
  std::string_view example;  // a program
};
[[nodiscard]] std::span<const LanguageForm> language_forms();

}  // namespace mtf

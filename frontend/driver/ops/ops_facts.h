// What there is to say of an operation, for the page and for JSON. What it does to each dim is
// asked of it, on the calls of its own example.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/driver/ops/ops_forms.h"
#include "ir/op.h"

namespace mtf {

struct DimFacts {
  std::string name;  // in the example
  DimRole role{};
  std::string_view combined;  // of a reduced one: "sum"
};

struct OpFacts {
  std::vector<std::string> forms;
  std::string operator_form;            // "x + y"; empty: none
  std::vector<std::string> built_from;  // names of operations; empty: it is one itself
  bool has_gradient = false;            // of its own, where it is built from nothing
  bool adds_up = false;                 // itself adds or multiplies up what ranks may have parts of
  std::vector<DimFacts> dims;
};

[[nodiscard]] OpFacts facts_of(const OpDef& op);

// "list of dims"; of a text that is one of a few: these.
[[nodiscard]] std::string kind_word(const OpParam& param);
[[nodiscard]] std::string_view role_word(DimRole role);  // "kept"

// {"operations": […], "language": […]}
[[nodiscard]] std::string ops_json(OpTable ops, std::span<const LanguageForm> forms);

}  // namespace mtf

// What `mtf ops` shows can be typed as it is shown.

#include "frontend/driver/ops/ops_forms.h"

#include <catch2/catch.hpp>

#include "frontend/elaborate/host/builtin.h"
#include "frontend/parse/parse.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

bool parses(const std::string& text) {
  SourceMap sources;
  DiagSink diags;
  const FileId file = sources.add({.name = "form", .path = "", .text = text + "\n"});
  return parse(file, sources, diags).has_value() && diags.ok();
}

}  // namespace

TEST_CASE("every form of every operation parses") {
  for (const OpDef* op : op_table()) {
    const std::vector<std::string> forms = forms_of(*op);
    CHECK_FALSE(forms.empty());
    for (const std::string& form : forms) {
      INFO(form);
      CHECK(parses(form));
      CHECK(form.find("…") == std::string::npos);
    }
  }
  CHECK_FALSE(parses("einsum(x, …, over = … -> shape)"));
}

TEST_CASE("every function of the host has a form, and no name is an operation's too") {
  for (const host::HostFn& function : host::host_functions()) {
    INFO(function.name);
    CHECK(std::ranges::find(language_forms(), function.name, &LanguageForm::name) !=
          language_forms().end());
  }
  for (const LanguageForm& one : language_forms()) {
    INFO(one.name);
    CHECK(find_op(op_table(), one.name) == nullptr);
    CHECK(parses(std::string(one.form)));
    CHECK(parses(std::string(one.example)));
  }
}

}  // namespace mtf

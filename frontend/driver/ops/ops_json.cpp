// `mtf ops --json`: what editors and notebooks want to know of operations.

#include "frontend/driver/ops/ops_facts.h"
#include "frontend/report/json_parts.h"

namespace mtf {
namespace {

Json operation_json(const OpDef& op) {
  const OpFacts facts = facts_of(op);
  Json params = Json::array();
  for (const OpParam& param : op.params) {
    params.push_back({{"name", param.name == "to" ? "->" : param.name},
                      {"kind", kind_word(param)},
                      {"choices", param.choices},
                      {"required", param.required},
                      {"help", param.help}});
  }
  Json dims = Json::array();
  for (const DimFacts& dim : facts.dims) {
    dims.push_back({{"dim", dim.name}, {"role", role_word(dim.role)}, {"combined", dim.combined}});
  }
  return {{"name", op.name},
          {"symbol", op.symbol},
          {"family", op.family},
          {"summary", op.summary},
          {"forms", facts.forms},
          {"parameters", std::move(params)},
          {"result", op.shape_rule},
          {"built_from", facts.built_from},
          {"gradient", facts.has_gradient || !facts.built_from.empty()},
          {"random", op.random},
          {"dims", std::move(dims)},
          {"example", op.example}};
}

}  // namespace

std::string ops_json(OpTable ops, std::span<const LanguageForm> forms) {
  Json operations = Json::array();
  for (const OpDef* op : ops) {
    operations.push_back(operation_json(*op));
  }
  Json language = Json::array();
  for (const LanguageForm& form : forms) {
    language.push_back({{"name", form.name},
                        {"form", form.form},
                        {"summary", form.summary},
                        {"example", form.example}});
  }
  return dump({{"operations", std::move(operations)}, {"language", std::move(language)}});
}

}  // namespace mtf

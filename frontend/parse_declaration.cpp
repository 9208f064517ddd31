// Layouts and functions: the declarations with an inside of their own.

#include "frontend/parse_build.h"

namespace mtf::parsing {
namespace {

std::vector<ast::Rule> only_rules(const Builder& build, MtfParser::LayoutBodyContext* context) {
  std::vector<ast::Rule> rules;
  for (MtfParser::LayoutItemContext* item : context->layoutItem()) {
    if (item->rule_() == nullptr) {
      build.error(build.span(item), "only rules stand here, as `dim -> axis`");
    } else {
      rules.push_back(build_rule(build, item->rule_()));
    }
  }
  return rules;
}

void add_item(const Builder& build, MtfParser::LayoutItemContext* item, ast::Layout& layout) {
  const SourceSpan span = build.span(item);
  if (item->rule_() != nullptr) {
    layout.rules.push_back(build_rule(build, item->rule_()));
  } else if (item->string() != nullptr) {
    layout.at.push_back({.span = span,
                         .glob = build_text(build, item->string()),
                         .rules = only_rules(build, item->layoutBody())});
  } else if (layout.params) {
    build.error(span, "a second `params` in one layout");
  } else {
    layout.params = ast::ParamRules{.span = span, .rules = only_rules(build, item->layoutBody())};
  }
}

std::optional<SourceSpan> flag(const Builder& build,
                               const std::vector<antlr4::tree::TerminalNode*>& words) {
  if (words.empty()) {
    return std::nullopt;
  }
  return build.source.span(build.token(words.front()->getSymbol()));
}

}  // namespace

ast::Layout build_layout(const Builder& build, MtfParser::LayoutContext* context) {
  const std::vector<MtfParser::NameContext*> names = context->name();
  ast::Layout layout{.name = build_name(build, names.front()),
                     .mesh = std::nullopt,
                     .infer = flag(build, context->INFER()),
                     .automatic = flag(build, context->AUTO()),
                     .uneven = flag(build, context->UNEVEN()),
                     .rules = {},
                     .params = std::nullopt,
                     .at = {}};
  if (names.size() > 1) {
    layout.mesh = build_name(build, names[1]);
  }
  for (MtfParser::LayoutItemContext* item : context->layoutBody()->layoutItem()) {
    add_item(build, item, layout);
  }
  return layout;
}

ast::Fn build_function(const Builder& build, MtfParser::FunctionContext* context) {
  ast::Fn fn{.name = build_name(build, context->name()),
             .is_model = context->MODEL() != nullptr,
             .parameters = {},
             .results = {},
             .body = build_block(build, context->block())};
  for (MtfParser::ParameterContext* parameter : context->parameter()) {
    fn.parameters.push_back({.span = build.span(parameter),
                             .name = build_name(build, parameter->name()),
                             .type = std::nullopt,
                             .initial = std::nullopt});
    if (parameter->type() != nullptr) {
      fn.parameters.back().type = build_type(build, parameter->type());
    }
    if (parameter->expr() != nullptr) {
      fn.parameters.back().initial = build_expr(build, parameter->expr());
    }
  }
  for (MtfParser::TypeContext* type : context->type()) {
    fn.results.push_back(build_type(build, type));
  }
  return fn;
}

}  // namespace mtf::parsing

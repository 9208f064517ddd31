// Layouts and functions: the declarations with an inside of their own.

#include "frontend/parse_build.h"

namespace mtf::parsing {
namespace {

ast::Target build_target(const Builder& build, MtfParser::TargetContext* context) {
  const Token& token = build.token(context->getStart());
  ast::Name axis{.text = std::string(build.source.at(token)), .span = build.source.span(token)};
  const ast::TargetKind kind = axis.text == "*"     ? ast::TargetKind::kUnused
                               : axis.text == "all" ? ast::TargetKind::kAll
                                                    : ast::TargetKind::kAxis;
  return {.kind = kind, .axis = std::move(axis)};
}

// Hands each item that is no rule to `other`; a rule ends with its line.
template <typename Other>
std::vector<ast::Rule> build_rules(const Builder& build, MtfParser::LayoutBodyContext* context,
                                   Other other) {
  RuleList rules(build);
  for (antlr4::tree::ParseTree* child : context->children) {
    auto* item = dynamic_cast<MtfParser::LayoutItemContext*>(child);
    if (item == nullptr) {
      auto* leaf = dynamic_cast<antlr4::tree::TerminalNode*>(child);
      if (build.token(leaf->getSymbol()).type != MtfParser::COMMA) {
        rules.end();
      }
    } else if (item->ruleItem() != nullptr) {
      rules.add(item->ruleItem());
    } else {
      other(item);
    }
  }
  return rules.take();
}

std::vector<ast::Rule> only_rules(const Builder& build, MtfParser::LayoutBodyContext* context) {
  return build_rules(build, context, [&](MtfParser::LayoutItemContext* item) {
    build.error(build.span(item), "only rules stand here, as `dim -> axis`");
  });
}

void add_part(const Builder& build, MtfParser::LayoutItemContext* item, ast::Layout& layout) {
  const SourceSpan span = build.span(item);
  if (item->string() != nullptr) {
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

void RuleList::add(MtfParser::RuleItemContext* item) {
  waiting_.push_back(build_name(build_, item->name()));
  if (item->ARROW() == nullptr) {
    return;
  }
  const std::uint32_t end = build_.span(item).end;
  for (ast::Name& dim : waiting_) {
    const SourceSpan span = build_.source.span(dim.span.begin, end);
    rules_.push_back({.span = span, .dim = std::move(dim), .targets = {}});
    for (MtfParser::TargetContext* target : item->target()) {
      rules_.back().targets.push_back(build_target(build_, target));
    }
  }
  waiting_.clear();
}

void RuleList::end() {
  if (!waiting_.empty()) {
    build_.error(waiting_.front().span, backticked(waiting_.front().text) +
                                            " has no axis; a rule is written `dim -> axis`");
    waiting_.clear();
  }
}

std::vector<ast::Rule> RuleList::take() {
  return std::move(rules_);
}

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
  layout.rules = build_rules(build, context->layoutBody(), [&](MtfParser::LayoutItemContext* item) {
    add_part(build, item, layout);
  });
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

// Primaries, and what follows them: calls, indices, members, pins. Also types.

#include "frontend/parse_build.h"

namespace mtf::parsing {
namespace {

ast::Bracket build_elements(const Builder& build, MtfParser::ElementsContext* context) {
  ast::Bracket bracket;
  for (MtfParser::ElementContext* element : context->element()) {
    const SourceSpan span = build.span(element);
    const std::vector<MtfParser::ExprContext*> parts = element->expr();
    if (parts.empty()) {
      bracket.elements.push_back({.span = span, .node = ast::Rest{}});
      continue;
    }
    ast::Expr first = build_expr(build, parts[0]);
    if (parts.size() == 1) {
      bracket.elements.push_back({.span = span, .node = std::move(first)});
    } else if (std::optional<ast::Name> name = name_of(build, first, "what stands before `:`")) {
      ast::Sized sized{.name = std::move(*name), .size = build_expr(build, parts[1])};
      bracket.elements.push_back({.span = span, .node = std::move(sized)});
    }
  }
  return bracket;
}

void add_argument(const Builder& build, MtfParser::ArgumentContext* context, bool after_target,
                  ast::Call& call) {
  const std::vector<MtfParser::ExprContext*> parts = context->expr();
  ast::Expr first = build_expr(build, parts[0]);
  const SourceSpan span = build.span(context);
  if (parts.size() == 1) {
    const bool after_named = !call.arguments.empty() && call.arguments.back().name.has_value();
    if (after_target || after_named) {
      build.error(span, std::string("after ") + (after_target ? "`->`" : "`name = value`") +
                            " every argument needs its name");
    }
    call.arguments.push_back({.span = span, .name = std::nullopt, .value = std::move(first)});
    return;
  }
  std::optional<ast::Name> name = name_of(build, first, "what stands before `=` in a call");
  call.arguments.push_back(
      {.span = span, .name = std::move(name), .value = build_expr(build, parts[1])});
}

ast::Call build_call(const Builder& build, MtfParser::SuffixContext* context) {
  ast::Call call;
  if (MtfParser::ArgumentsContext* arguments = context->arguments(); arguments != nullptr) {
    for (antlr4::tree::ParseTree* child : arguments->children) {
      if (auto* argument = dynamic_cast<MtfParser::ArgumentContext*>(child); argument != nullptr) {
        add_argument(build, argument, call.target.has_value(), call);
      } else if (auto* target = dynamic_cast<MtfParser::ExprContext*>(child); target != nullptr) {
        call.target = build_expr(build, target);
      }
    }
  }
  if (context->string() != nullptr) {
    call.name = build_string(build, context->string());
  }
  return call;
}

ast::IndexItem build_index_item(const Builder& build, MtfParser::IndexItemContext* context) {
  const std::vector<MtfParser::RangeContext*> parts = context->range();
  ast::IndexItem item{.span = build.span(context),
                      .dim = std::nullopt,
                      .value = build_range(build, parts.back()),
                      .as = std::nullopt};
  if (parts.size() == 2) {
    item.dim = name_of(build, build_range(build, parts[0]), "what stands before `:`");
  }
  if (context->name() != nullptr) {
    item.as = build_name(build, context->name());
  }
  return item;
}

ast::Pin build_pin(const Builder& build, MtfParser::SuffixContext* context) {
  ast::Pin pin;
  RuleList rules(build);
  for (MtfParser::PinItemContext* item : context->pinItem()) {
    if (pin.open) {
      build.error(build.span(item), "`..` stands at the end, for all other dims");
    }
    if (item->ruleItem() == nullptr) {
      pin.open = true;
    } else {
      rules.add(item->ruleItem());
    }
  }
  rules.end();
  pin.rules = rules.take();
  return pin;
}

}  // namespace

ast::Expr build_primary(const Builder& build, MtfParser::PrimaryContext* context) {
  const SourceSpan span = build.span(context);
  const Token& token = build.token(context->getStart());
  switch (token.type) {
    case MtfParser::INT:
    case MtfParser::FLOAT:
      return build_number(build, token);
    case MtfParser::TRUE:
    case MtfParser::FALSE:
      return {.span = span, .node = ast::Bool{.value = token.type == MtfParser::TRUE}};
    case MtfParser::STRING_BEGIN:
      return build_string(build, context->string());
    case MtfParser::OPEN_BRACKET:
      return {.span = span, .node = build_elements(build, context->elements())};
    case MtfParser::OPEN_PAREN: {
      ast::Expr inner = build_expr(build, context->expr());
      inner.span = span;
      return inner;
    }
    default:
      return {.span = span, .node = ast::NameRef{.text = std::string(build.source.at(token))}};
  }
}

ast::Suffix build_suffix(const Builder& build, MtfParser::SuffixContext* context) {
  const SourceSpan span = build.span(context);
  switch (build.token(context->getStart()).type) {
    case MtfParser::OPEN_PAREN:
      return {.span = span, .node = build_call(build, context)};
    case MtfParser::DOT:
      return {.span = span, .node = ast::Member{.name = build_name(build, context->name())}};
    case MtfParser::PIN:
      return {.span = span, .node = build_pin(build, context)};
    default:
      break;
  }
  ast::Index index;
  for (MtfParser::IndexItemContext* item : context->indexItem()) {
    index.items.push_back(build_index_item(build, item));
  }
  return {.span = span, .node = std::move(index)};
}

ast::TypeExpr build_type(const Builder& build, MtfParser::TypeContext* context) {
  ast::TypeExpr type{.span = build.span(context),
                     .name = build_name(build, context->name()),
                     .dims = std::nullopt};
  if (context->elements() != nullptr) {
    type.dims = build_elements(build, context->elements());
  }
  return type;
}

}  // namespace mtf::parsing

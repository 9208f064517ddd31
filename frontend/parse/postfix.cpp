// Primaries, and what follows them: calls, indices, members, pins. Also types.

#include "frontend/parse/build.h"

namespace mtf::parsing {
namespace {

std::variant<ast::Expr, ast::Sized, ast::Rest> build_element(const Builder& build,
                                                             const Tree* context) {
  const std::vector<MtfParser::ExprContext*> parts = all<MtfParser::ExprContext>(context);
  if (parts.empty()) {
    return ast::Rest{};
  }
  ast::Expr first = build_expr(build, parts[0]);
  if (parts.size() == 1) {
    return first;
  }
  std::optional<ast::Name> name = name_of(build, first, "what stands before `:`");
  return ast::Sized{.name = name.value_or(ast::Name{}), .size = build_expr(build, parts[1])};
}

ast::Bracket build_elements(const Builder& build, const Tree* context) {
  ast::Bracket bracket;
  for (MtfParser::ElementContext* element : all<MtfParser::ElementContext>(context)) {
    bracket.elements.push_back(
        {.span = build.span(element), .node = build_element(build, element)});
  }
  return bracket;
}

// Of `over = a, b`: that both are one argument, in brackets.
std::string as_one_list(const ast::Call& call, const ast::Expr& value) {
  const ast::NameRef* next = ast::as_name(value);
  const ast::NameRef* last =
      call.arguments.empty() ? nullptr : ast::as_name(call.arguments.back().value);
  if (next == nullptr || last == nullptr || !call.arguments.back().name) {
    return "";
  }
  return "; several are one list, `" + call.arguments.back().name->text + " = [" + last->text +
         ", " + next->text + "]`";
}

void add_argument(const Builder& build, const Tree* context, bool after_target, ast::Call& call) {
  const std::vector<MtfParser::ExprContext*> parts = all<MtfParser::ExprContext>(context);
  ast::Expr first = build_expr(build, parts[0]);
  const SourceSpan span = build.span(context);
  if (parts.size() == 1) {
    const bool after_named = !call.arguments.empty() && call.arguments.back().name.has_value();
    if (after_target || after_named) {
      build.error(span, std::string("after ") + (after_target ? "`->`" : "`name = value`") +
                            " every argument needs its name" +
                            (after_target ? "" : as_one_list(call, first)));
    }
    call.arguments.push_back({.span = span, .name = std::nullopt, .value = std::move(first)});
    return;
  }
  std::optional<ast::Name> name = name_of(build, first, "what stands before `=` in a call");
  call.arguments.push_back(
      {.span = span, .name = std::move(name), .value = build_expr(build, parts[1])});
}

// `a -> b, c -> d` is `[a, c] -> [b, d]`; `sources` are the places of what stands before arrows.
void join_targets(const std::vector<std::size_t>& sources, std::vector<ast::Expr> targets,
                  ast::Call& call) {
  if (targets.size() == 1) {
    call.target = std::move(targets.front());
    return;
  }
  ast::Bracket from;
  ast::Bracket to;
  const SourceSpan span = join(call.arguments[sources.front()].span, targets.back().span);
  for (const std::size_t source : sources) {
    ast::Expr& value = call.arguments[source].value;
    const SourceSpan at = value.span;
    from.elements.push_back({.span = at, .node = std::move(value)});
  }
  for (ast::Expr& target : targets) {
    const SourceSpan at = target.span;
    to.elements.push_back({.span = at, .node = std::move(target)});
  }
  call.arguments[sources.front()].value = {.span = span, .node = std::move(from)};
  for (std::size_t i = sources.size(); i-- > 1;) {
    call.arguments.erase(call.arguments.begin() + static_cast<std::ptrdiff_t>(sources[i]));
  }
  call.target = ast::Expr{.span = span, .node = std::move(to)};
}

ast::Call build_call(const Builder& build, const Tree* context) {
  ast::Call call;
  std::vector<std::size_t> sources;
  std::vector<ast::Expr> targets;
  if (const Tree* arguments = first<MtfParser::ArgumentsContext>(context); arguments != nullptr) {
    const auto& children = arguments->children;
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (auto* argument = as<MtfParser::ArgumentContext>(children[i]); argument != nullptr) {
        const bool has_target =
            i + 2 < children.size() && as<MtfParser::ExprContext>(children[i + 2]) != nullptr;
        add_argument(build, argument, !targets.empty() && !has_target, call);
      } else if (auto* target = as<MtfParser::ExprContext>(children[i]); target != nullptr) {
        if (call.arguments.back().name) {
          build.error(build.span(target), "`->` comes before every `name = value`");
          call.arguments.back().name = std::nullopt;
        }
        sources.push_back(call.arguments.size() - 1);
        targets.push_back(build_expr(build, target));
      }
    }
  }
  if (!targets.empty()) {
    join_targets(sources, std::move(targets), call);
  }
  if (const Tree* name = first<MtfParser::StringContext>(context); name != nullptr) {
    call.name = build_string(build, name);
  }
  return call;
}

ast::IndexItem build_index_item(const Builder& build, const Tree* context) {
  const std::vector<MtfParser::RangeContext*> parts = all<MtfParser::RangeContext>(context);
  ast::IndexItem item{.span = build.span(context),
                      .dim = std::nullopt,
                      .value = build_range(build, parts.back()),
                      .as = std::nullopt};
  if (parts.size() == 2) {
    item.dim = name_of(build, build_range(build, parts[0]), "what stands before `:`",
                       "; an index names its dim, as in `x[io: 0..2]`");
  }
  if (const Tree* name = first<MtfParser::NameContext>(context); name != nullptr) {
    item.as = build_name(build, name);
  }
  return item;
}

ast::Pin build_pin(const Builder& build, const Tree* context) {
  ast::Pin pin;
  RuleList rules(build);
  for (MtfParser::PinItemContext* item : all<MtfParser::PinItemContext>(context)) {
    if (pin.open) {
      build.error(build.span(item), "`..` stands at the end, for all other dims");
    }
    if (const Tree* rule = first<MtfParser::RuleItemContext>(item); rule != nullptr) {
      if (build.leaf(rule, MtfParser::ASSIGN) != nullptr) {
        build.error(build.span(rule), "only rules stand here, as `dim -> axis`");
        continue;
      }
      rules.add(rule);
    } else {
      pin.open = true;
    }
  }
  rules.end();
  pin.rules = rules.take();
  return pin;
}

ast::Member build_member(const Builder& build, const Tree* context) {
  const Tree* string = first<MtfParser::StringContext>(context);
  if (string == nullptr) {
    return {.name = name_in(build, context), .path = nullptr};
  }
  ast::Expr path = build_string(build, string);
  return {.name = {.text = {}, .span = path.span},
          .path = std::make_unique<ast::Expr>(std::move(path))};
}

ast::Suffix build_suffix(const Builder& build, const Tree* context) {
  const SourceSpan span = build.span(context);
  switch (build.token(context->start).type) {
    case MtfParser::OPEN_PAREN:
      return {.span = span, .node = build_call(build, context)};
    case MtfParser::DOT:
      return {.span = span, .node = build_member(build, context)};
    case MtfParser::PIN:
      return {.span = span, .node = build_pin(build, context)};
    default:
      break;
  }
  ast::Index index;
  for (MtfParser::IndexItemContext* item : all<MtfParser::IndexItemContext>(context)) {
    index.items.push_back(build_index_item(build, item));
  }
  return {.span = span, .node = std::move(index)};
}

// The value that a child of an operand is; none if it is a bracket or an operator.
std::optional<ast::Expr> build_primary(const Builder& build, antlr4::tree::ParseTree* child) {
  if (const Token* token = build.leaf(child); token != nullptr) {
    const SourceSpan span = build.source.span(*token);
    switch (token->type) {
      case MtfParser::NAME:
        return ast::Expr{.span = span,
                         .node = ast::NameRef{.text = std::string(build.source.at(*token))}};
      case MtfParser::INT:
      case MtfParser::FLOAT:
        return build_number(build, *token);
      case MtfParser::TRUE:
      case MtfParser::FALSE:
        return ast::Expr{.span = span, .node = ast::Bool{.value = token->type == MtfParser::TRUE}};
      default:
        return std::nullopt;
    }
  }
  if (auto* elements = as<MtfParser::ElementsContext>(child); elements != nullptr) {
    return ast::Expr{.span = {}, .node = build_elements(build, elements)};
  }
  if (auto* string = as<MtfParser::StringContext>(child); string != nullptr) {
    return build_string(build, string);
  }
  return build_expr(build, static_cast<Tree*>(child));
}

}  // namespace

ast::Expr build_operand(const Builder& build, const Tree* context) {
  ast::Postfix postfix;
  for (antlr4::tree::ParseTree* child : context->children) {
    if (auto* suffix = as<MtfParser::SuffixContext>(child); suffix != nullptr) {
      postfix.suffixes.push_back(build_suffix(build, suffix));
    } else if (std::optional<ast::Expr> primary = build_primary(build, child)) {
      postfix.base = std::make_unique<ast::Expr>(std::move(*primary));
    }
  }
  if (const Token* open = build.leaf(context, MtfParser::OPEN_PAREN); open != nullptr) {
    const Token* close = build.leaf(context, MtfParser::CLOSE_PAREN);
    postfix.base->span = build.source.span(open->begin, close->end);
  } else if (open = build.leaf(context, MtfParser::OPEN_BRACKET); open != nullptr) {
    const Token* close = build.leaf(context, MtfParser::CLOSE_BRACKET);
    postfix.base->span = build.source.span(open->begin, close->end);
  }
  if (postfix.suffixes.empty()) {
    return std::move(*postfix.base);
  }
  const SourceSpan span = join(postfix.base->span, postfix.suffixes.back().span);
  return {.span = span, .node = std::move(postfix)};
}

ast::TypeExpr build_type(const Builder& build, const Tree* context) {
  ast::TypeExpr type{
      .span = build.span(context), .name = name_in(build, context), .dims = std::nullopt};
  if (const Tree* elements = first<MtfParser::ElementsContext>(context); elements != nullptr) {
    type.dims = build_elements(build, elements);
  }
  return type;
}

}  // namespace mtf::parsing

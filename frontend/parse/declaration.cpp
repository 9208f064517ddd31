// Layouts and functions: the declarations with an inside of their own.

#include "frontend/parse/build.h"

namespace mtf::parsing {
namespace {

ast::Name build_word(const Builder& build, const Tree* context) {
  const Token& token = build.token(context->start);
  return {.text = std::string(build.source.at(token)), .span = build.source.span(token)};
}

ast::Target build_target(const Builder& build, const Tree* context) {
  ast::Name axis = build_word(build, context);
  const ast::TargetKind kind = axis.text == "*"     ? ast::TargetKind::kUnused
                               : axis.text == "all" ? ast::TargetKind::kAll
                                                    : ast::TargetKind::kAxis;
  return {.kind = kind, .axis = std::move(axis)};
}

std::vector<ast::Condition> build_where(const Builder& build, const Tree* item) {
  std::vector<ast::Condition> conditions;
  const Tree* where = first<MtfParser::WhereContext>(item);
  if (where == nullptr) {
    return conditions;
  }
  for (MtfParser::ConditionContext* condition : all<MtfParser::ConditionContext>(where)) {
    conditions.push_back({.span = build.span(condition), .coordinates = {}});
    for (MtfParser::CoordinateContext* one : all<MtfParser::CoordinateContext>(condition)) {
      conditions.back().coordinates.push_back(build_word(build, one));
    }
  }
  return conditions;
}

// Hands each item that is no rule to `other`; a rule ends with its line.
template <typename Other>
std::vector<ast::Rule> build_rules(const Builder& build, const Tree* context, Other other) {
  RuleList rules(build);
  for (antlr4::tree::ParseTree* child : context->children) {
    auto* item = as<MtfParser::LayoutItemContext>(child);
    if (item == nullptr) {
      if (build.leaf(child)->type != MtfParser::COMMA) {
        rules.end();
      }
    } else if (const Tree* rule = first<MtfParser::RuleItemContext>(item);
               rule != nullptr && build.leaf(rule, MtfParser::ASSIGN) == nullptr) {
      rules.add(rule);
    } else {
      other(item);
    }
  }
  return rules.take();
}

std::vector<ast::Rule> only_rules(const Builder& build, const Tree* context) {
  return build_rules(build, context, [&](const Tree* item) {
    build.error(build.span(item), "only rules stand here, as `dim -> axis`");
  });
}

ast::Name last_word(const Builder& build, const Tree* context) {
  const Token& token = build.token(context->stop);
  return {.text = std::string(build.source.at(token)), .span = build.source.span(token)};
}

void add_part(const Builder& build, const Tree* item, ast::Layout& layout) {
  const SourceSpan span = build.span(item);
  if (const Tree* option = first<MtfParser::RuleItemContext>(item); option != nullptr) {
    layout.options.push_back({.name = name_in(build, option), .value = last_word(build, option)});
    return;
  }
  const Tree* body = first<MtfParser::LayoutBodyContext>(item);
  if (const Tree* glob = first<MtfParser::StringContext>(item); glob != nullptr) {
    layout.at.push_back({.span = span,
                         .lets = build.leaf(item, MtfParser::LET) != nullptr,
                         .glob = build_text(build, glob),
                         .rules = only_rules(build, body)});
  } else if (layout.params) {
    build.error(span, "a second `params` in one layout");
  } else {
    layout.params = ast::ParamRules{.span = span, .rules = only_rules(build, body)};
  }
}

std::optional<SourceSpan> flag(const Builder& build, const Tree* context, std::size_t word) {
  const Token* found = build.leaf(context, word);
  return found == nullptr ? std::nullopt : std::optional(build.source.span(*found));
}

}  // namespace

void RuleList::add(const Tree* item) {
  waiting_.push_back(name_in(build_, item));
  if (build_.leaf(item, MtfParser::ARROW) == nullptr) {
    return;
  }
  const std::uint32_t end = build_.span(item).end;
  for (ast::Name& dim : waiting_) {
    const SourceSpan span = build_.source.span(dim.span.begin, end);
    rules_.push_back(
        {.span = span, .dim = std::move(dim), .targets = {}, .where = build_where(build_, item)});
    for (MtfParser::TargetContext* target : all<MtfParser::TargetContext>(item)) {
      rules_.back().targets.push_back(build_target(build_, target));
    }
  }
  waiting_.clear();
}

void RuleList::end() {
  if (!waiting_.empty()) {
    const bool is_axis = !rules_.empty();  // io -> x, y
    build_.error(waiting_.front().span,
                 backticked(waiting_.front().text) +
                     " has no axis; a rule is written `dim -> axis`" +
                     (is_axis ? ", and `dim -> (x, y)` for several axes" : ""));
    waiting_.clear();
  }
}

std::vector<ast::Rule> RuleList::take() {
  return std::move(rules_);
}

ast::Layout build_layout(const Builder& build, const Tree* context) {
  const std::vector<MtfParser::NameContext*> names = all<MtfParser::NameContext>(context);
  ast::Layout layout{.name = build_name(build, names.front()),
                     .mesh = std::nullopt,
                     .infer = flag(build, context, MtfParser::INFER),
                     .automatic = flag(build, context, MtfParser::AUTO),
                     .uneven = flag(build, context, MtfParser::UNEVEN),
                     .rules = {},
                     .params = std::nullopt,
                     .at = {},
                     .options = {}};
  if (names.size() > 1) {
    layout.mesh = build_name(build, names[1]);
  }
  layout.rules = build_rules(build, first<MtfParser::LayoutBodyContext>(context),
                             [&](const Tree* item) { add_part(build, item, layout); });
  return layout;
}

ast::Fn build_function(const Builder& build, const Tree* context) {
  ast::Fn fn{.name = name_in(build, context),
             .is_model = build.leaf(context, MtfParser::MODEL) != nullptr,
             .parameters = {},
             .results = {},
             .body = block_in(build, context)};
  for (MtfParser::ParameterContext* parameter : all<MtfParser::ParameterContext>(context)) {
    fn.parameters.push_back({.span = build.span(parameter),
                             .name = name_in(build, parameter),
                             .type = std::nullopt,
                             .initial = std::nullopt});
    if (const Tree* type = first<MtfParser::TypeContext>(parameter); type != nullptr) {
      fn.parameters.back().type = build_type(build, type);
    }
    if (const Tree* initial = first<MtfParser::ExprContext>(parameter); initial != nullptr) {
      fn.parameters.back().initial = build_expr(build, initial);
    }
  }
  for (MtfParser::TypeContext* type : all<MtfParser::TypeContext>(context)) {
    fn.results.push_back(build_type(build, type));
  }
  return fn;
}

}  // namespace mtf::parsing

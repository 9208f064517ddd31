// One function per kind of statement, and the table that finds it.

#include "frontend/parse/build.h"

namespace mtf::parsing {
namespace {

using Node = decltype(ast::Stmt::node);

std::vector<ast::Name> build_names(const Builder& build, const Tree* context) {
  std::vector<ast::Name> result;
  for (MtfParser::NameContext* name : all<MtfParser::NameContext>(context)) {
    result.push_back(build_name(build, name));
  }
  return result;
}

Node import_module(const Builder& build, const Tree* context) {
  const Tree* path = first<MtfParser::StringContext>(context);
  const bool is_file = path != nullptr;
  const std::vector<MtfParser::NameContext*> names = all<MtfParser::NameContext>(context);
  ast::Import import{.module = is_file ? build_text(build, path) : build_name(build, names.front()),
                     .is_file = is_file,
                     .alias = std::nullopt};
  if (build.leaf(context, MtfParser::AS) != nullptr) {
    import.alias = build_name(build, names.back());
  } else if (is_file) {
    build.error(import.module.span,
                "an imported file needs a name: `import \"lib/mine.mtf\" as mine`");
  }
  return import;
}

Node dims(const Builder& build, const Tree* context) {
  ast::Dims result;
  for (MtfParser::DimSizeContext* dim : all<MtfParser::DimSizeContext>(context)) {
    result.dims.push_back({.name = name_in(build, dim), .size = expr_in(build, dim)});
  }
  return result;
}

Node mesh(const Builder& build, const Tree* context) {
  const std::vector<MtfParser::NameContext*> names = all<MtfParser::NameContext>(context);
  ast::Mesh result{.name = build_name(build, names.front()), .axes = {}, .profile = std::nullopt};
  for (MtfParser::AxisContext* axis : all<MtfParser::AxisContext>(context)) {
    result.axes.push_back({.name = name_in(build, axis), .size = expr_in(build, axis)});
  }
  if (names.size() > 1) {
    result.profile = build_name(build, names[1]);
  }
  return result;
}

Node binding(const Builder& build, const Tree* context) {
  ast::Binding result{.rebindable = build.leaf(context, MtfParser::VAR) != nullptr,
                      .is_option = build.leaf(context, MtfParser::OPTION) != nullptr,
                      .names = build_names(build, context),
                      .value = expr_in(build, context)};
  if (result.is_option && result.names.size() > 1) {
    build.error(result.names[1].span, "an `option` has one name; each stands in a line of its own");
  }
  return result;
}

Node variable(const Builder& build, const Tree* context) {
  ast::Variable result{.trained = build.leaf(context, MtfParser::PARAM) != nullptr,
                       .name = name_in(build, context),
                       .type = std::nullopt,
                       .initial = std::nullopt};
  if (const Tree* type = first<MtfParser::TypeContext>(context); type != nullptr) {
    result.type = build_type(build, type);
  }
  if (const Tree* initial = first<MtfParser::ExprContext>(context); initial != nullptr) {
    result.initial = build_expr(build, initial);
  }
  if (!result.type && !result.initial) {
    build.error(result.name.span, std::string(result.trained ? "`param`" : "`state`") +
                                      " needs a type or a first value: `w : f32[io] = zeros`");
  }
  return result;
}

Node for_loop(const Builder& build, const Tree* context) {
  ast::For result{.variable = name_in(build, context),
                  .over = range_in(build, context),
                  .step = std::nullopt,
                  .condition = std::nullopt,
                  .body = block_in(build, context)};
  const bool has_step = build.leaf(context, MtfParser::STEP) != nullptr;
  for (antlr4::tree::ParseTree* child : context->children) {
    if (auto* expr = as<MtfParser::ExprContext>(child); expr != nullptr) {
      (has_step && !result.step ? result.step : result.condition) = build_expr(build, expr);
    }
  }
  return result;
}

Node if_else(const Builder& build, const Tree* context) {
  ast::If result;
  std::optional<ast::Expr> condition;
  for (antlr4::tree::ParseTree* child : context->children) {
    if (auto* expr = as<MtfParser::ExprContext>(child); expr != nullptr) {
      condition = build_expr(build, expr);
    }
    auto* block = as<MtfParser::BlockContext>(child);
    if (block == nullptr) {
      continue;
    }
    if (result.otherwise) {
      build.error(result.otherwise->span, "an `else` without a condition comes last");
    }
    if (condition) {
      result.branches.push_back(
          {.condition = std::move(*condition), .body = build_block(build, block)});
      condition.reset();
    } else {
      result.otherwise = build_block(build, block);
    }
  }
  return result;
}

Node assertion(const Builder& build, const Tree* context) {
  const std::vector<MtfParser::ExprContext*> parts = all<MtfParser::ExprContext>(context);
  ast::Assert result{.condition = build_expr(build, parts.front()), .message = std::nullopt};
  if (parts.size() > 1) {
    result.message = build_expr(build, parts[1]);
  }
  return result;
}

// `optim.sgd(lr = 0.5)` is taken apart: the rule is called later, once for each parameter.
Node minimize(const Builder& build, const Tree* context) {
  const std::vector<MtfParser::ExprContext*> parts = all<MtfParser::ExprContext>(context);
  ast::Minimize result{.loss = build_expr(build, parts[0]),
                       .rule = build_expr(build, parts[1]),
                       .options = {},
                       .params = std::nullopt};
  if (parts.size() > 2) {
    result.params = build_expr(build, parts[2]);
  }
  auto* postfix = std::get_if<ast::Postfix>(&result.rule.node);
  auto* call =
      postfix == nullptr ? nullptr : std::get_if<ast::Call>(&postfix->suffixes.back().node);
  if (call == nullptr) {
    return result;
  }
  if (call->target || call->name) {
    build.error(postfix->suffixes.back().span, "`minimize` takes options alone: `name = value`");
  }
  result.options = std::move(call->arguments);
  postfix->suffixes.pop_back();
  if (postfix->suffixes.empty()) {
    ast::ExprPtr base = std::move(postfix->base);
    result.rule = std::move(*base);
  } else {
    result.rule.span.end = postfix->suffixes.back().span.end;
  }
  return result;
}

Node checkpoint(const Builder& build, const Tree* context) {
  std::vector<ast::Expr> values;
  for (MtfParser::ExprContext* value : all<MtfParser::ExprContext>(context)) {
    values.push_back(build_expr(build, value));
  }
  std::vector<ast::Name> names = build_names(build, context);
  ast::Checkpoint result{.restore = build.leaf(context, MtfParser::RESTORE) != nullptr,
                         .path = std::move(values.front()),
                         .part = std::nullopt,
                         .options = {}};
  std::size_t next = 1;
  if (build.leaf(context, MtfParser::AS) != nullptr) {
    result.part = std::move(values[next++]);
  }
  for (ast::Name& name : names) {
    ast::Expr& value = values[next++];
    const SourceSpan span{.file = name.span.file, .begin = name.span.begin, .end = value.span.end};
    result.options.push_back({.span = span, .name = std::move(name), .value = std::move(value)});
  }
  return result;
}

Node with_precision(const Builder& build, const Tree* context) {
  const std::vector<ast::Name> names = build_names(build, context);
  ast::WithPrecision result{
      .dtype = names.front(), .options = {}, .body = block_in(build, context)};
  for (std::size_t i = 1; i + 1 < names.size(); i += 2) {
    result.options.push_back({.name = names[i], .value = names[i + 1]});
  }
  return result;
}

constexpr std::string_view kElements =
    "; a tensor stays as it is: `where(…)` and `dynamic_update(…)` make another one";

std::string_view instead_of_assigning(const ast::Expr& target) {
  const auto* postfix = std::get_if<ast::Postfix>(&target.node);
  if (postfix != nullptr && std::holds_alternative<ast::Call>(postfix->suffixes.back().node)) {
    return "; `fn f(x) { return … }` declares a function";
  }
  const bool is_member =
      postfix != nullptr && std::holds_alternative<ast::Member>(postfix->suffixes.back().node);
  return is_member ? "; `<-` assigns to a param or a state" : kElements;
}

Node plain(const Builder& build, const Tree* context) {
  std::vector<ast::Expr> left = expressions_in(build, context);
  if (build.leaf(context, MtfParser::ASSIGN) != nullptr) {
    ast::Assign assign{.names = {}, .value = expr_in(build, context)};
    for (const ast::Expr& target : left) {
      if (std::optional<ast::Name> name =
              name_of(build, target, "what `=` assigns to", instead_of_assigning(target))) {
        assign.names.push_back(std::move(*name));
      }
    }
    return assign;
  }
  if (left.size() > 1) {
    build.error(left[1].span, "one statement holds one expression; this is a second one");
  }
  if (build.leaf(context, MtfParser::UPDATE) != nullptr) {
    return ast::Update{.target = std::move(left.front()), .value = expr_in(build, context)};
  }
  return ast::Evaluate{.value = std::move(left.front())};
}

// A `-` here was most likely meant to go on with the line above.
void check_line_start(const Builder& build, const Tree* statement, bool first_in_block) {
  const Token& start = build.token(statement->start);
  const Token& separator = build.tokens[statement->start->getTokenIndex() - 1];
  if (start.type == MtfParser::MINUS && !first_in_block && separator.begin == separator.end) {
    build.error(build.source.span(start),
                "a line cannot start with `-`; end the line before with it");
  }
}

Node build_node(const Builder& build, const Tree* context) {
  switch (context->getRuleIndex()) {
    case MtfParser::RuleImportModule:
      return import_module(build, context);
    case MtfParser::RuleDims:
      return dims(build, context);
    case MtfParser::RuleMesh:
      return mesh(build, context);
    case MtfParser::RuleLayout:
      return build_layout(build, context);
    case MtfParser::RuleUseLayout:
      return ast::UseLayout{.layout = name_in(build, context)};
    case MtfParser::RuleFunction:
      return build_function(build, context);
    case MtfParser::RuleBinding:
      return binding(build, context);
    case MtfParser::RuleVariable:
      return variable(build, context);
    case MtfParser::RuleForLoop:
      return for_loop(build, context);
    case MtfParser::RuleWhileLoop:
      return ast::While{.condition = expr_in(build, context), .body = block_in(build, context)};
    case MtfParser::RuleIfElse:
      return if_else(build, context);
    case MtfParser::RuleLeave:
      return ast::Leave{.for_next_turn = build.leaf(context, MtfParser::CONTINUE) != nullptr};
    case MtfParser::RuleReturnValues:
      return ast::Return{.values = expressions_in(build, context)};
    case MtfParser::RulePrint:
      return ast::Print{.parts = expressions_in(build, context)};
    case MtfParser::RuleAssertion:
      return assertion(build, context);
    case MtfParser::RuleMinimize:
      return minimize(build, context);
    case MtfParser::RuleCheckpoint:
      return checkpoint(build, context);
    case MtfParser::RuleWithLayout:
      return ast::WithLayout{.layout = name_in(build, context), .body = block_in(build, context)};
    case MtfParser::RuleWithPrecision:
      return with_precision(build, context);
    case MtfParser::RuleRegion:
      return ast::Recompute{.body = block_in(build, context)};
    case MtfParser::RuleGradient:
      return ast::Gradient{.names = build_names(build, context), .body = block_in(build, context)};
    case MtfParser::RuleExpectation:
      return build_expect(build, context);
    default:
      return plain(build, context);
  }
}

}  // namespace

ast::Stmt build_statement(const Builder& build, const Tree* context, bool first_in_block) {
  check_line_start(build, context, first_in_block);
  const auto* kind = static_cast<Tree*>(context->children.front());  // each is a rule
  return {.span = build.span(context), .node = build_node(build, kind)};
}

ast::Block block_in(const Builder& build, const Tree* parent) {
  return build_block(build, first<MtfParser::BlockContext>(parent));
}

ast::Block build_block(const Builder& build, const Tree* context) {
  ast::Block block{.span = build.span(context), .statements = {}};
  for (MtfParser::StatementContext* statement : all<MtfParser::StatementContext>(context)) {
    block.statements.push_back(build_statement(build, statement, block.statements.empty()));
  }
  return block;
}

}  // namespace mtf::parsing

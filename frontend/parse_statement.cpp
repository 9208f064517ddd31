// One function per kind of statement, and the table that finds it.

#include <unordered_map>

#include "frontend/parse_build.h"

namespace mtf::parsing {
namespace {

using Context = MtfParser::StatementContext;
using Node = decltype(ast::Stmt::node);

std::vector<ast::Name> build_names(const Builder& build,
                                   const std::vector<MtfParser::NameContext*>& names) {
  std::vector<ast::Name> result;
  for (MtfParser::NameContext* name : names) {
    result.push_back(build_name(build, name));
  }
  return result;
}

Node import_module(const Builder& build, Context* statement) {
  MtfParser::ImportModuleContext* context = statement->importModule();
  const bool is_file = context->string() != nullptr;
  const std::vector<MtfParser::NameContext*> names = context->name();
  ast::Import import{
      .module = is_file ? build_text(build, context->string()) : build_name(build, names.front()),
      .is_file = is_file,
      .alias = std::nullopt};
  if (context->AS() != nullptr) {
    import.alias = build_name(build, names.back());
  } else if (is_file) {
    build.error(import.module.span,
                "an imported file needs a name: `import \"lib/mine.mtf\" as mine`");
  }
  return import;
}

Node dims(const Builder& build, Context* statement) {
  ast::Dims result;
  for (MtfParser::DimSizeContext* dim : statement->dims()->dimSize()) {
    result.dims.push_back(
        {.name = build_name(build, dim->name()), .size = build_expr(build, dim->expr())});
  }
  return result;
}

Node mesh(const Builder& build, Context* statement) {
  const std::vector<MtfParser::NameContext*> names = statement->mesh()->name();
  ast::Mesh result{.name = build_name(build, names.front()), .axes = {}, .profile = std::nullopt};
  for (MtfParser::AxisContext* axis : statement->mesh()->axis()) {
    result.axes.push_back(
        {.name = build_name(build, axis->name()), .size = build_expr(build, axis->expr())});
  }
  if (names.size() > 1) {
    result.profile = build_name(build, names[1]);
  }
  return result;
}

Node binding(const Builder& build, Context* statement) {
  MtfParser::BindingContext* context = statement->binding();
  return ast::Binding{.rebindable = context->VAR() != nullptr,
                      .names = build_names(build, context->name()),
                      .value = build_expr(build, context->expr())};
}

Node variable(const Builder& build, Context* statement) {
  MtfParser::VariableContext* context = statement->variable();
  ast::Variable result{.trained = context->PARAM() != nullptr,
                       .name = build_name(build, context->name()),
                       .type = std::nullopt,
                       .initial = std::nullopt};
  if (context->type() != nullptr) {
    result.type = build_type(build, context->type());
  }
  if (context->expr() != nullptr) {
    result.initial = build_expr(build, context->expr());
  }
  if (!result.type && !result.initial) {
    build.error(result.name.span, std::string(result.trained ? "`param`" : "`state`") +
                                      " needs a type or a first value: `w : f32[io] = zeros`");
  }
  return result;
}

Node if_else(const Builder& build, Context* statement) {
  MtfParser::IfElseContext* context = statement->ifElse();
  const std::vector<MtfParser::ExprContext*> conditions = context->expr();
  const std::vector<MtfParser::BlockContext*> blocks = context->block();
  ast::If result;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    result.branches.push_back(
        {.condition = build_expr(build, conditions[i]), .body = build_block(build, blocks[i])});
  }
  if (blocks.size() > conditions.size()) {
    result.otherwise = build_block(build, blocks.back());
  }
  return result;
}

Node assertion(const Builder& build, Context* statement) {
  const std::vector<MtfParser::ExprContext*> parts = statement->assertion()->expr();
  ast::Assert result{.condition = build_expr(build, parts.front()), .message = std::nullopt};
  if (parts.size() > 1) {
    result.message = build_expr(build, parts[1]);
  }
  return result;
}

// `optim.sgd(lr = 0.5)` is taken apart: the rule is called later, once for each parameter.
Node minimize(const Builder& build, Context* statement) {
  const std::vector<MtfParser::ExprContext*> parts = statement->minimize()->expr();
  ast::Minimize result{
      .loss = build_expr(build, parts[0]), .rule = build_expr(build, parts[1]), .options = {}};
  auto* postfix = std::get_if<ast::Postfix>(&result.rule.node);
  auto* call =
      postfix == nullptr ? nullptr : std::get_if<ast::Call>(&postfix->suffixes.back().node);
  if (call == nullptr) {
    return result;
  }
  for (const ast::Argument& option : call->arguments) {
    if (!option.name) {
      build.error(option.span, "an option of `minimize` needs its name, as in `lr = 0.5`");
    }
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

Node region(const Builder& build, Context* statement) {
  ast::Block body = build_block(build, statement->region()->block());
  if (statement->region()->RECOMPUTE() != nullptr) {
    return ast::Recompute{.body = std::move(body)};
  }
  return ast::Expect{.body = std::move(body)};
}

Node plain(const Builder& build, Context* statement) {
  MtfParser::PlainContext* context = statement->plain();
  std::vector<ast::Expr> left = build_expressions(build, context->expressions());
  if (context->ASSIGN() != nullptr) {
    ast::Assign assign{.names = {}, .value = build_expr(build, context->expr())};
    for (const ast::Expr& target : left) {
      if (std::optional<ast::Name> name = name_of(build, target, "what `=` assigns to")) {
        assign.names.push_back(std::move(*name));
      }
    }
    return assign;
  }
  if (left.size() > 1) {
    build.error(left[1].span, "one statement holds one expression; this is a second one");
  }
  if (context->UPDATE() != nullptr) {
    return ast::Update{.target = std::move(left.front()),
                       .value = build_expr(build, context->expr())};
  }
  return ast::Evaluate{.value = std::move(left.front())};
}

// A `-` here was most likely meant to go on with the line above.
void check_line_start(const Builder& build, Context* statement, bool first_in_block) {
  const Token& start = build.token(statement->getStart());
  const Token& separator = build.tokens[statement->getStart()->getTokenIndex() - 1];
  if (start.type == MtfParser::MINUS && !first_in_block && separator.begin == separator.end) {
    build.error(build.source.span(start),
                "a line cannot start with `-`; end the line before with it");
  }
}

Node build_node(const Builder& build, Context* context, bool first_in_block) {
  switch (dynamic_cast<antlr4::ParserRuleContext*>(context->children.front())->getRuleIndex()) {
    case MtfParser::RuleImportModule:
      return import_module(build, context);
    case MtfParser::RuleDims:
      return dims(build, context);
    case MtfParser::RuleMesh:
      return mesh(build, context);
    case MtfParser::RuleLayout:
      return build_layout(build, context->layout());
    case MtfParser::RuleUseLayout:
      return ast::UseLayout{.layout = build_name(build, context->useLayout()->name())};
    case MtfParser::RuleFunction:
      return build_function(build, context->function());
    case MtfParser::RuleBinding:
      return binding(build, context);
    case MtfParser::RuleVariable:
      return variable(build, context);
    case MtfParser::RuleForLoop:
      return ast::For{.variable = build_name(build, context->forLoop()->name()),
                      .over = build_range(build, context->forLoop()->range()),
                      .body = build_block(build, context->forLoop()->block())};
    case MtfParser::RuleWhileLoop:
      return ast::While{.condition = build_expr(build, context->whileLoop()->expr()),
                        .body = build_block(build, context->whileLoop()->block())};
    case MtfParser::RuleIfElse:
      return if_else(build, context);
    case MtfParser::RuleReturnValues:
      return ast::Return{.values =
                             build_expressions(build, context->returnValues()->expressions())};
    case MtfParser::RulePrint:
      return ast::Print{.parts = build_expressions(build, context->print()->expressions())};
    case MtfParser::RuleAssertion:
      return assertion(build, context);
    case MtfParser::RuleMinimize:
      return minimize(build, context);
    case MtfParser::RuleCheckpoint:
      return ast::Checkpoint{.restore = context->checkpoint()->RESTORE() != nullptr,
                             .path = build_expr(build, context->checkpoint()->expr())};
    case MtfParser::RuleWithLayout:
      return ast::WithLayout{.layout = build_name(build, context->withLayout()->name()),
                             .body = build_block(build, context->withLayout()->block())};
    case MtfParser::RuleRegion:
      return region(build, context);
    default:
      check_line_start(build, context, first_in_block);
      return plain(build, context);
  }
}

}  // namespace

ast::Stmt build_statement(const Builder& build, MtfParser::StatementContext* context,
                          bool first_in_block) {
  return {.span = build.span(context), .node = build_node(build, context, first_in_block)};
}

ast::Block build_block(const Builder& build, MtfParser::BlockContext* context) {
  ast::Block block{.span = build.span(context), .statements = {}};
  for (MtfParser::StatementContext* statement : context->statement()) {
    block.statements.push_back(build_statement(build, statement, block.statements.empty()));
  }
  return block;
}

}  // namespace mtf::parsing

// Contracts: `expect train_step under both { all_reduce(cols) = 1, peak_memory < 2 GiB }`.

#include "frontend/parse/build.h"
#include "grammar/MtfParser.h"

namespace mtf::parsing {
namespace {

// `=` stands beside the grammar of expressions, the other comparisons within it.
std::optional<ast::Clause> build_clause(const Builder& build, const Tree* context) {
  std::vector<ast::Expr> sides;
  for (const MtfParser::ExprContext* side : all<MtfParser::ExprContext>(context)) {
    sides.push_back(build_expr(build, side));
  }
  ast::Clause clause{.span = build.span(context),
                     .subject = std::move(sides.front()),
                     .relation = ast::BinaryOp::kEqual,
                     .bound = {},
                     .unit = std::nullopt};
  if (const Tree* unit = first<MtfParser::NameContext>(context); unit != nullptr) {
    clause.unit = build_name(build, unit);
  }
  if (sides.size() > 1) {
    clause.bound = std::move(sides[1]);
    return clause;
  }
  auto* chain = std::get_if<ast::Chain>(&clause.subject.node);
  const bool compares = chain != nullptr && chain->links.size() == 1 &&
                        chain->links.front().op >= ast::BinaryOp::kEqual &&
                        chain->links.front().op <= ast::BinaryOp::kGreaterEqual;
  if (!compares) {
    build.error(clause.span,
                "a clause of `expect` compares, as in `all_reduce(cols) = 1` or `flops < 1e9`");
    return std::nullopt;
  }
  clause.relation = chain->links.front().op;
  clause.bound = std::move(chain->links.front().operand);
  const ast::ExprPtr left = std::move(chain->first);
  clause.subject = std::move(*left);
  return clause;
}

// `f`, or `m.f` of a module.
ast::Name build_named(const Builder& build, const Tree* context) {
  ast::Name whole{.text = "", .span = build.span(context)};
  for (const MtfParser::NameContext* name : all<MtfParser::NameContext>(context)) {
    whole.text += (whole.text.empty() ? "" : ".") + build_name(build, name).text;
  }
  return whole;
}

}  // namespace

ast::Expect build_expect(const Builder& build, const Tree* context) {
  ast::Expect result;
  std::vector<ast::Name> names;
  for (const MtfParser::NamedContext* named : all<MtfParser::NamedContext>(context)) {
    names.push_back(build_named(build, named));
  }
  for (const MtfParser::NameContext* name : all<MtfParser::NameContext>(context)) {  // in brackets
    names.push_back(build_name(build, name));
  }
  const bool listed = build.leaf(context, MtfParser::OPEN_BRACKET) != nullptr;
  const bool has_entry = names.size() == 1 || (!names.empty() && names.front().text != "under");
  const std::size_t under = has_entry ? 1 : 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i < under) {
      result.entry = std::move(names[i]);
    } else if (i > under) {
      result.layouts.push_back(std::move(names[i]));
    } else if (names[i].text != "under") {
      build.error(names[i].span, "found `" + names[i].text + "` where `under` or `{` was expected");
    }
  }
  if ((!listed && result.layouts.size() > 1) || (names.size() > under && result.layouts.empty())) {
    build.error(names.back().span, "`under` takes a layout, or several as `[a, b]`");
  }
  const Tree* body = first<MtfParser::ExpectBodyContext>(context);
  for (const MtfParser::ClauseContext* clause : all<MtfParser::ClauseContext>(body)) {
    if (std::optional<ast::Clause> built = build_clause(build, clause)) {
      result.clauses.push_back(*std::move(built));
    }
  }
  return result;
}

}  // namespace mtf::parsing

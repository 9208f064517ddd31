// What each `recompute { … }` of the file is worth under the answer: the program without it,
// planned; or with all of them where the answer keeps what they compute.

#include <algorithm>
#include <utility>

#include "frontend/driver/search/questions.h"
#include "ir/rewrite/rewrite.h"
#include "lowering/price/price.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

// The blocks inside of a statement.
template <typename Stmt, typename Visit>
void visit_blocks(Stmt& statement, const Visit& visit) {
  std::visit(
      [&visit](auto& node) {
        if constexpr (requires { node.body.statements; }) {
          visit(node.body);
        } else if constexpr (requires { node.branches; }) {
          for (auto& branch : node.branches) {
            visit(branch.body);
          }
          if (node.otherwise) {
            visit(*node.otherwise);
          }
        }
      },
      statement.node);
}

// `recompute` blocks, the outer ones first.
template <typename Stmt, typename Visit>
void visit_recomputed(Stmt& statement, const Visit& visit) {
  if (std::holds_alternative<ast::Recompute>(statement.node)) {
    visit(statement);
  }
  visit_blocks(statement, [&visit](auto& block) {
    for (auto& inner : block.statements) {
      visit_recomputed(inner, visit);
    }
  });
}

// The block becomes one of `if true`.
void keep(ast::Stmt& block) {
  ast::Branch branch{.condition = {.span = block.span, .node = ast::Bool{.value = true}},
                     .body = std::move(std::get<ast::Recompute>(block.node).body)};
  ast::If always;
  always.branches.push_back(std::move(branch));
  block.node = std::move(always);
}

// Nothing after an error.
std::optional<Priced> planned(SearchedProgram& program, const Layout& layout, std::size_t mesh,
                              bool exact) {
  Priced result{.candidate = {}, .is_legal = true, .obstacle = {}};
  const std::span<const Program> programs = program.programs(mesh);
  const Hardware hardware = program.hardware(layout.mesh);
  for (std::size_t entry = 0; entry < programs.size(); ++entry) {
    DiagSink diags;
    const auto plan =
        lower_simplified(programs[entry], layout, op_table(), diags, {.exact = exact});
    if (!plan || !refusal(program, entry, *plan).why.empty()) {
      return std::nullopt;
    }
    result.seconds += price(*plan, hardware).seconds();
    result.peak_bytes = std::max(result.peak_bytes, plan->totals.peak_bytes);
  }
  return programs.empty() ? std::nullopt : std::optional(std::move(result));
}

}  // namespace

std::vector<SourceSpan> SearchedProgram::recomputed() const {
  std::vector<SourceSpan> blocks;
  for (const ast::Stmt& statement : tree().statements) {
    visit_recomputed(statement, [&](const ast::Stmt& block) { blocks.push_back(block.span); });
  }
  return blocks;
}

void SearchedProgram::keep_block(ast::File& tree, SourceSpan block) {
  for (ast::Stmt& statement : tree.statements) {
    visit_recomputed(statement, [block](ast::Stmt& found) {
      if (found.span == block) {
        keep(found);
      }
    });
  }
}

void add_recomputed(const Workspace& workspace, SearchedProgram& program, Searching& searching,
                    SearchReport& report) {
  Layout layout = searching.answer();
  const auto add = [&](std::string place) {
    const std::optional<Priced> other =
        planned(program, layout, searching.candidate().mesh, !workspace.options.fast);
    report.recomputed.push_back({.place = std::move(place),
                                 .is_possible = other.has_value(),
                                 .seconds = other ? other->seconds : 0,
                                 .peak_bytes = other ? other->peak_bytes : 0,
                                 .fits = other && merit_of(*other, searching.goal()).fits()});
  };
  if (!layout.recompute) {
    layout.recompute = true;
    add("");
    return;
  }
  if (std::ranges::none_of(program.programs(searching.candidate().mesh), recomputes)) {
    return;  // the blocks are in other entries
  }
  for (const SourceSpan place : program.recomputed()) {
    program.set_kept(place);
    add(workspace.sources.short_place(place));
  }
  program.set_kept(std::nullopt);
}

}  // namespace mtf

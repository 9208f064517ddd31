// Expressions that stand alone and do nothing, and what no run gets to.

#include <algorithm>
#include <set>
#include <string>

#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/names/resolve.h"
#include "ir/support/match.h"

namespace mtf::host {
namespace {

class IdleStatements {
 public:
  IdleStatements(OpTable ops, const ast::File& file, DiagSink& found)
      : ops_(ops), found_(found), declared_(names_declared_anywhere(file)) {
    walk(file.statements);
  }

 private:
  void walk(std::span<const ast::Stmt> statements) {
    const ast::Stmt* end = nullptr;  // what ends the block
    bool is_told = false;
    for (const ast::Stmt& stmt : statements) {
      if (end != nullptr && !is_told && runs(stmt)) {
        is_told = true;
        found_.warning(DiagKind::kUnreached, stmt.span,
                       "no run gets here: the statement above ends the block",
                       {{.span = end->span, .text = "it is this one"}});
      }
      end = end == nullptr && ends_block(stmt) ? &stmt : end;
      if (const auto* alone = std::get_if<ast::Evaluate>(&stmt.node);
          alone != nullptr && !is_told) {
        check(alone->value);
      }
      for_each_block(stmt, [this](std::span<const ast::Stmt> body) { walk(body); });
    }
  }

  static bool ends_block(const ast::Stmt& stmt) {
    return std::holds_alternative<ast::Return>(stmt.node) ||
           std::holds_alternative<ast::Leave>(stmt.node);
  }

  // What a function says of itself holds wherever it stands.
  static bool runs(const ast::Stmt& stmt) {
    return !std::holds_alternative<ast::Gradient>(stmt.node) &&
           !std::holds_alternative<ast::Expect>(stmt.node);
  }

  void check(const ast::Expr& value) {
    if (!is_idle(value)) {
      return;
    }
    const bool is_text = std::holds_alternative<ast::String>(value.node);
    found_.warning(DiagKind::kIdleStatement, value.span,
                   is_text ? "a text that stands alone does nothing; a comment starts with `#`"
                           : "nothing reads this value; `let` names it, `return` hands it on, "
                             "`print` shows it");
  }

  [[nodiscard]] bool is_idle(const ast::Expr& expression) const {
    return match(
        expression.node,  //
        [this](const ast::String& string) {
          return std::ranges::all_of(string.parts, [this](const ast::StringPart& part) {
            const auto* inner = std::get_if<ast::Expr>(&part.node);
            return inner == nullptr || is_idle(*inner);
          });
        },
        [this](const ast::Bracket& list) {
          return std::ranges::all_of(list.elements, [this](const ast::Element& element) {
            const auto* value = std::get_if<ast::Expr>(&element.node);
            const auto* sized = std::get_if<ast::Sized>(&element.node);
            return (value == nullptr || is_idle(*value)) &&
                   (sized == nullptr || is_idle(sized->size));
          });
        },
        [this](const ast::Range& range) { return is_idle(*range.begin) && is_idle(*range.end); },
        [this](const ast::Unary& unary) { return is_idle(*unary.operand); },
        [this](const ast::Chain& chain) {
          return is_idle(*chain.first) &&
                 std::ranges::all_of(chain.links,
                                     [this](const auto& link) { return is_idle(link.operand); });
        },
        [this](const ast::Postfix& postfix) { return is_idle_postfix(postfix); },
        [](const auto& /*a name or a literal*/) { return true; });
  }

  [[nodiscard]] bool is_idle_postfix(const ast::Postfix& postfix) const {
    const ast::NameRef* callee = ast::as_name(*postfix.base);
    return is_idle(*postfix.base) && std::ranges::all_of(postfix.suffixes,
                                                         [&](const ast::Suffix& suffix) {
                                                           const bool is_first =
                                                               &suffix == &postfix.suffixes.front();
                                                           return match(
                 suffix.node,  //
                 [&](const ast::Call& call) {
                   return is_first && callee != nullptr && has_no_effect(callee->text) &&
                          is_idle_call(call);
                 },
                 [this](const ast::Index& index) {
                   return std::ranges::all_of(index.items, [this](const ast::IndexItem& item) {
                     return is_idle(item.value);
                   });
                 },
                 [](const auto& /*a member or a pin*/) { return true; });
                                                         });
  }

  [[nodiscard]] bool is_idle_call(const ast::Call& call) const {
    return std::ranges::all_of(
        call.arguments, [this](const ast::Argument& argument) { return is_idle(argument.value); });
  }

  // A name that the file declares anywhere is taken to be that everywhere: what it does when it is
  // called is not known. A draw moves the program's stream on.
  [[nodiscard]] bool has_no_effect(const std::string& callee) const {
    if (declared_.contains(callee)) {
      return false;
    }
    if (const OpDef* op = find_op(ops_, callee); op != nullptr) {
      return !op->effect && !op->random && op->file != FileUse::kWrites;
    }
    const HostFn* fn = find_host_fn(callee);
    return fn != nullptr && !fn->effect;
  }

  OpTable ops_;
  DiagSink& found_;
  std::set<std::string, std::less<>> declared_;
};

}  // namespace

void find_idle_statements(const Context& c, DiagSink& found) {
  for (const auto& module : c.modules.files) {
    IdleStatements(c.units.ops, module->file, found);
  }
  for (const auto& [key, module] : c.modules.by_key) {
    if (module != nullptr && !module->is_standard) {
      IdleStatements(c.units.ops, module->file, found);
    }
  }
}

}  // namespace mtf::host

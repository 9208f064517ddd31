// Meshes and layouts: what a file declares, what the command line changes, and which one is in
// force.

#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/ast.h"
#include "ir/layout/layout.h"

namespace mtf::host {

class Execution;
class Recording;
class Reporter;
struct Context;
struct Module;
struct Operand;
struct Suggestion;
struct Value;

// What one rank is called as a layout, unless a program declares one of that name.
inline constexpr std::string_view kOneRank = "none";

// On the command line.
struct LayoutsAsked {
  std::string layout;
  std::string mesh;
  bool is_one_of_all = false;  // that layout, which may be on a mesh without the axes of `mesh`
  std::string rules;
  bool one_rank = false;             // no layout is used, whatever the file says
  std::optional<Layout> given = {};  // in use whatever else is said
  // Finds the rules of a layout that is `auto`, as of ElaborateOptions; may be none.
  std::function<std::optional<Layout>(const Layout&, DiagSink&)> search = {};
  bool searches_all = false;  // where it is declared; otherwise where it comes into use
  bool in_session = false;    // more statements may follow
  std::function<bool(const Layout&)> puts_off = {};  // as of ElaborateOptions
};

struct Layouts {
  LayoutsAsked asked = {};
  std::vector<Mesh> meshes;
  std::vector<Layout> layouts;
  std::optional<ast::Name> use;                // `use layout`
  const Layout* chosen = nullptr;              // once in use; null: one rank
  std::optional<Layout> in_use;                // what `chosen` points to
  std::set<std::string, std::less<>> written;  // all that the file declares, here or further down
  bool is_used = false;                        // the device knows
  SourceSpan used_at = {};                     // by then: the first statement that computed
  SourceSpan used_by = {};                     // if it is of another file: what imports that
  bool has_late = false;                       // one behind that
  bool is_refused = false;                     // and cannot
  bool waits = false;         // is used, on one rank: there was nothing to search the layout for
  bool has_pins = false;      // an `@` somewhere
  bool has_mistakes = false;  // a layout has: what it uses is not known
  bool pins_all = false;      // one on all axes
  std::set<std::string, std::less<>> in_regions;  // named by a `with layout`
  std::set<std::string, std::less<>> expected;    // named by an `expect`
  std::optional<Layout> region;                   // the innermost `with layout`
};

// At the top level of a file.
void declare_mesh(Context& c, const Module& file, const ast::Mesh& declared, SourceSpan span);
void declare_layout(Context& c, const Module& file, const ast::Layout& declared, SourceSpan span);
void use_layout(Context& c, const Module& file, const ast::UseLayout& use);

// h @ [batch -> x, ..]. requires: there is a unit under construction.
[[nodiscard]] Value pin_tensor(Context& c, const Operand& tensor, const ast::Pin& pin,
                               SourceSpan span);
// The layout of `with layout`, or nullopt: an error, or nothing is split anyway.
[[nodiscard]] std::optional<Layout> region_layout(Reporter& report, Layouts& layouts,
                                                  const ast::Name& name);
// Makes the region the place of what is recorded next.
void enter_region(const Layouts& layouts, Recording& unit);

// Tells the device, once, which layout it holds everything in. False after an error.
bool put_in_use(Reporter& report, Layouts& layouts, Execution& execution);
// Whether that is not to be done before something computes: a session may put off a search, which
// is for what there is by then.
[[nodiscard]] bool is_put_off(const Layouts& layouts);
// The layout in force by the rules of the language; null also for one rank.
[[nodiscard]] const Layout* choose_layout(Reporter& report, const Layouts& layouts);
// None where `use layout none` is what holds.
[[nodiscard]] std::span<const Layout> layouts_to_choose(const Layouts& layouts);
// Of a session: what is `auto`, and will be in use, without a `use layout`, once something computes
// and there is something to search it for; null: none.
[[nodiscard]] const Layout* awaited_layout(const Layouts& layouts);
// "no layout `x`", and which there are.
[[nodiscard]] std::string no_layout_text(const Layouts& layouts, std::string_view name,
                                         const Suggestion& suggestion);
// Warnings of a check: axes no layout uses, rules for dims that no tensor has.
void check_layouts(Context& c);

}  // namespace mtf::host

// Host evaluation: runs the statements of a file, and records what they ask of tensors as IR.
//
// At top level a call of a function, or an expression of tensors, becomes a unit that the device
// runs at once. A function called again with the same signature is not built again.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ast.h"
#include "frontend/device.h"
#include "ir/layout/hardware.h"

namespace mtf {

namespace host {
struct Context;
struct Saved;
struct Value;
}  // namespace host

// What `with precision` says of products, and of the gradients of params that come back from them.
struct Precision {
  DType products = DType::kF32;  // of their operands and results
  DType gradients = DType::kF32;
  friend bool operator==(const Precision&, const Precision&) = default;
};
// "bf16" or "bf16,gradients=bf16".
[[nodiscard]] std::optional<Precision> precision_named(std::string_view text);

struct ElaborateOptions {
  OpTable ops;
  std::string layout;  // `--layout`; wins over `use layout`
  std::string mesh;    // `--mesh "rows=4,cols=2"`: sizes of axes, of every mesh that has them all
  bool is_one_of_all = false;  // that layout, which may be on a mesh without the axes of `--mesh`
  std::string rules;  // `--rules "batch:rows;hidden:cols"`: a layout of its own, named "rules"
  // Of `--set`, "data=folder", which `setting("data", …)` returns and `option data` is; behind
  // `--`, "--data=folder", for options alone.
  std::vector<std::string> settings;
  std::vector<std::string> before_dashes;  // "--layout": options that do not stand behind `--`
  std::optional<Precision> precision;      // `--precision`: as a block around the whole program
  bool one_rank = false;                   // no layout is used, whatever the file says
  // In use whatever the file and the options above say: one that a search looks at.
  std::optional<Layout> given;
  // The rules of a layout that is `auto`, which leaves them open; nullopt after an error, which is
  // in the sink, or, of a program that is still being typed, where it has nothing yet that a layout
  // could be searched for. None: it is taken as it stands.
  std::function<std::optional<Layout>(const Layout&, DiagSink&)> search;
  bool search_all = false;  // and not only what comes into use
  // Of a session: whether the search for a layout that nothing asks for by name waits until
  // something computes. None: it does not.
  std::function<bool(const Layout&)> puts_off = {};
  // Text of a standard module, or nullopt; and their names, for suggestions.
  std::function<std::optional<std::string>(std::string_view)> module_text;
  std::vector<std::string> module_names;
  // Units stay as the text has them, to be shown. Otherwise each is simplified once it is built,
  // which is how devices take them.
  bool as_written = false;
  // The device only checks: loops are bounded, and entries that the program never calls are built
  // at the end for their errors.
  bool check = false;
  // Of a check: the first of them is left out where another runs it as it would be built alone.
  bool leave_out_first = false;
  std::size_t max_check_statements = 200'000;
  // Of one function, with all that it calls: each leaves operations in its program.
  std::size_t max_unit_statements = 500'000;
  std::optional<std::chrono::steady_clock::time_point> deadline;  // `--timeout`
  // Statements come one by one: what the program as a whole leaves unused is not known yet.
  bool interactive = false;
  std::function<void()> before_statement = {};  // may throw, to end what runs
};

// How a check went about its entries.
enum class EntryCheck : std::uint8_t {
  kAll,           // each was built, in order, that the program had not called
  kLeftOutFirst,  // nothing is wrong with them
  kOutOfOrder,    // of no use: errors, and the order of variables, may be other than they should be
};

// A function with fully typed parameters: it can be planned without running anything.
struct Entry {
  std::string name;
  bool is_model = false;
  bool is_imported = false;  // checked where the program calls it
  SourceSpan span;
  std::vector<std::string> calls;  // other entries that it names
};

// A function that is none, and why: the first of its parameters that says too little.
struct NoEntry {
  std::string name;
  std::string why;    // "its parameter `training` is a bool, which is no tensor"
  std::string would;  // what would make it one
  SourceSpan span;    // of the parameter
};

// One program's evaluation. Statements may arrive in several files (a REPL sends one at a time).
class Session {
 public:
  Session(ElaborateOptions options, SourceMap& sources, Device& device, DiagSink& diags);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  Session(Session&&) = delete;
  Session& operator=(Session&&) = delete;

  // Runs the top-level statements in order. Errors go to the sink; after one, the rest is still
  // checked as far as it does not depend on what failed. The session keeps the file.
  void run(ast::File file);

  [[nodiscard]] std::span<const Layout> layouts() const;
  // Those that a program is to choose from; none where its choice is one rank.
  [[nodiscard]] std::span<const Layout> layouts_to_choose() const;
  [[nodiscard]] std::span<const Mesh> meshes() const;
  // Of its own files, then those of imported files that a top level names, as `m.f`.
  [[nodiscard]] std::vector<Entry> entries() const;
  // Also of imported files, whether or not they are named anywhere.
  [[nodiscard]] bool has_entry(std::string_view name) const;
  [[nodiscard]] std::vector<NoEntry> no_entries() const;
  // nullopt: it is one, or there is no function of that name.
  [[nodiscard]] std::optional<NoEntry> why_no_entry(std::string_view name) const;
  // The file that was run last.
  [[nodiscard]] const ast::File& file() const;
  // The layout in force: chosen on the command line or by the file; null for one rank.
  [[nodiscard]] const Layout* layout() const;
  // The profile of a name: of the program, of the standard module `hardware`, or `this_machine`
  // once it is measured. nullopt: there is none.
  [[nodiscard]] std::optional<HardwareChoice> hardware(std::string_view name);
  [[nodiscard]] std::vector<std::string> hardware_names();
  // Whether what is built depends on which layout is in use: by a region, or an `@` on all axes.
  [[nodiscard]] bool follows_layout() const;
  // Whether the program names the layout in `with layout` and nowhere else, so that it need not fit
  // the whole program. False of all where every layout is of that kind.
  [[nodiscard]] bool serves_regions_alone(std::string_view layout) const;
  // Whether a `save` stands anywhere in the program, or in what it imports.
  [[nodiscard]] bool has_save() const;
  [[nodiscard]] EntryCheck entry_check() const;
  // Warnings of statements that do nothing, in the files of the program.
  void find_idle_statements(DiagSink& found) const;
  // What `expect` at top level says of entries.
  [[nodiscard]] std::span<const Contract> contracts() const;
  // The entry as the program first called it; where it never did, built on abstract arguments of
  // its declared types. Null after an error; and, which is one only if the entry `is_wanted`, where
  // it is built from what tensors hold when the program runs.
  [[nodiscard]] const Unit* build(std::string_view entry, bool is_wanted = true);
  // The program of an entry that was built; the session has it no longer, and builds no other.
  [[nodiscard]] Program take(std::string_view entry);

  // ---- for statements that people type one by one (frontend/driver/repl) ----

  // All that exists by now.
  [[nodiscard]] const host::Context& context() const;
  // The value of an expression, the one statement of the file.
  [[nodiscard]] host::Value evaluate(ast::File file);
  // What the session knows by now, to come back to: whatever ran since, and however it ended,
  // leaves nothing behind. What the device holds is the device's.
  [[nodiscard]] std::shared_ptr<const host::Saved> save() const;
  void restore(const host::Saved& saved);
  // What runs from here on is laid out so. requires: a layout on the same mesh is in use, and
  // nothing that was built depends on which.
  void switch_to(const Layout& layout, std::span<const Layout> declared);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mtf

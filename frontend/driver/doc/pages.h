// The pages of a module: what its comments and its functions' first lines say.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ast.h"
#include "ir/support/diag.h"

namespace mtf {

// Of a function, or of a value: `let tpu_v2 = …`.
struct DocPage {
  std::string name;
  std::string signature;  // "nn.dense(x, from, to, bias = true)", on several lines where it is long
  std::string purpose;    // the first sentence
  std::string text;       // the whole comment but its example; paragraphs end at blank lines
  std::string example;    // a program without its `import`
  std::string group;      // of "# ---- layers ----"
  std::string of = {};    // "schedules.cosine", of which it is another name, until it has that page
};

struct ModuleDoc {
  std::string name;
  std::string path;  // to import it by; empty: by its name
  std::string purpose;
  std::string text;
  std::vector<DocPage> pages;
};

// requires: `tree` is that of the file. Only what has a comment directly above it has a page, or
// what is another name for what the library has a page of, `let cosine = schedules.cosine`.
[[nodiscard]] ModuleDoc module_doc(std::string name, const ast::File& tree,
                                   const SourceMap& sources);

// The modules of the library, by name.
[[nodiscard]] std::vector<ModuleDoc> library_docs();

[[nodiscard]] const DocPage* find_page(const ModuleDoc& doc, std::string_view name);  // or null

// "; there is `optim.adam`, which `mtf doc optim.adam` explains", or the hint below, of what no
// module has a page of.
[[nodiscard]] std::string where_explained(std::span<const ModuleDoc> docs, std::string_view name);

// Of modules, their members, operations, forms and words of the language: `nn`, `nn.dense`,
// `einsum`, `layout`.
[[nodiscard]] std::vector<std::string> explained_names();

// The command that explains such a name: "doc nn.dense", "ops einsum", "doc language layout"; "" of
// any other.
[[nodiscard]] std::string page_command(std::string_view name);

// "; `mtf ops einsum` explains it", or "".
[[nodiscard]] std::string command_hint(std::string_view name);

// The example as it runs: with what it imports.
[[nodiscard]] std::string whole_example(const ModuleDoc& doc, const DocPage& page);

}  // namespace mtf

// From the text of a case to its program, through the whole front end.

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/driver/stdlib_modules.h"
#include "frontend/elaborate.h"
#include "frontend/parse/parse.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

// Runs nothing: the harness takes the program and runs it itself.
class NoDevice final : public DryDevice {
 public:
  bool use(const Layout* /*chosen*/, std::span<const Layout> /*declared*/,
           DiagSink& /*diags*/) override {
    return true;
  }
  std::optional<std::vector<TensorHandle>> run(const Unit& /*unit*/,
                                               std::span<const TensorHandle> /*arguments*/,
                                               DiagSink& /*diags*/) override {
    return std::nullopt;
  }
};

std::string problems(const DiagSink& diags, const SourceMap& sources) {
  std::string text;
  for (const Diag& diag : diags.diags()) {
    text += sources.short_place(diag.span) + ": " + diag.text + "\n";
  }
  return text;
}

}  // namespace

Program program_of(const std::string& text) {
  SourceMap sources;
  DiagSink diags;
  const FileId file = sources.add({.name = "case.mtf", .path = "", .text = text});
  std::optional<ast::File> tree = parse(file, sources, diags);
  NoDevice device;
  if (tree) {
    ElaborateOptions options{.ops = op_table(), .as_written = true};
    options.module_text = [](std::string_view name) -> std::optional<std::string> {
      const std::string_view module = stdlib_module(name);
      return module.empty() ? std::nullopt : std::optional<std::string>(module);
    };
    Session session(options, sources, device, diags);
    session.run(*std::move(tree));
    const Unit* unit = diags.ok() ? session.build("case") : nullptr;
    if (unit != nullptr && diags.ok()) {
      return unit->program;
    }
  }
  throw std::runtime_error(text + "\n" + problems(diags, sources));
}

SpmdProgram lowered(const Program& program, const Layout& layout) {
  DiagSink diags;
  std::optional<SpmdProgram> plan = lower(program, layout, op_table(), diags);
  if (!plan) {
    throw std::runtime_error("the layout does not fit " + program.name);
  }
  return *std::move(plan);
}

}  // namespace mtf::tests

// The example of every operation is a whole program that runs.

#include <filesystem>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "frontend/driver/devices/execute_device.h"
#include "frontend/elaborate.h"
#include "frontend/parse/parse.h"
#include "stdlib/ops/table.h"

namespace mtf::tests {
namespace {

// The lines that a program prints, or its first error.
std::vector<std::string> lines_of(std::string_view text) {
  SourceMap sources;
  DiagSink diags;
  std::vector<std::string> lines;
  const FileId file =
      sources.add({.name = "example.mtf", .path = "example.mtf", .text = std::string(text)});
  std::optional<ast::File> tree = parse(file, sources, diags);
  ExecuteDevice device({.ops = op_table(),
                        .check_plan = true,
                        .print = [&](std::string_view line) { lines.emplace_back(line); },
                        .after_run = nullptr,
                        .observe = nullptr},
                       nullptr);
  if (tree) {
    Session session({.ops = op_table(),
                     .layout = "",
                     .mesh = "",
                     .rules = "",
                     .settings = {},
                     .module_text = nullptr,
                     .module_names = {}},
                    sources, device, diags);
    session.run(*std::move(tree));
  }
  return diags.diags().empty() ? lines : std::vector{"error: " + diags.diags()[0].text};
}

TEST_CASE("the example of every operation runs and shows something") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("mtf_examples_" + std::to_string(::getpid()));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::create_directory(folder);
  std::filesystem::current_path(folder);  // two of them write files
  for (const OpDef* op : op_table()) {
    INFO(op->example);
    const std::vector<std::string> lines = lines_of(op->example);
    CHECK(lines.empty() == (op->example.rfind("\nassert ") != std::string_view::npos));
    if (!lines.empty()) {
      CHECK_FALSE(lines[0].starts_with("error: "));
    }
  }
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mtf::tests

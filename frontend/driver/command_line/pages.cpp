#include "frontend/driver/command_line/pages.h"

#include <vector>

#include "frontend/parse/parse.h"
#include "ir/support/columns.h"
#include "runtime/library_versions.h"

namespace mtf {
namespace {

constexpr std::string_view kVersion = "mtf 0.1";

}  // namespace

std::string overview_page() {
  std::vector<Row> rows;
  for (const CommandDef& command : all_commands()) {
    rows.push_back({usage_of(command), std::string(command.summary)});
  }
  return "mtf: tensor programs with named dims, split over ranks by layouts\n\n" +
         in_columns(rows, {.gap = 3}) +
         "\n`mtf COMMAND --help` lists the options of a command. FILE may be `-`: standard "
         "input.\n";
}

std::string command_page(const CommandDef& command) {
  std::vector<Row> options;
  for (const OptionDef& def : all_options()) {
    if (takes(command, def)) {
      options.push_back({form_of(def), std::string(def.help)});
    }
  }
  std::string examples;
  for (const ExampleDef& example : command.examples) {
    examples += "  # " + std::string(example.says) + "\n  " + std::string(example.line) + "\n";
  }
  return usage_of(command) + "\n\n  " + std::string(command.summary) + "\n\n" +
         in_columns(options, {.gap = 3}) + "\nexamples\n" + examples;
}

std::string version_page() {
  const std::vector<Row> rows = {{std::string(kVersion)},
                                 {mpi_version()},
                                 {"oneDNN " + onednn_version()},
                                 {"ANTLR runtime " + antlr_version()},
                                 {"Eigen " + eigen_version()}};
  return in_columns(rows, {.indent = 0});
}

}  // namespace mtf

#include "frontend/driver/built.h"

#include <optional>
#include <utility>

#include "frontend/parse.h"
#include "stdlib/ops/ops.h"

namespace mtf {
namespace {

ElaborateOptions checking(const Options& options) {
  ElaborateOptions result = elaborate_options(options);
  result.check = true;
  result.one_rank = options.layout.empty();
  return result;
}

}  // namespace

BuildDevice::BuildDevice() : CheckDevice(op_table(), /*every_layout=*/false) {}

Built::Built(const Options& options, SourceMap& sources, DiagSink& diags)
    : session(checking(options), sources, device, diags) {}

std::unique_ptr<Built> build(Workspace& workspace, FileId file, std::string_view layout,
                             DiagSink& diags) {
  std::optional<ast::File> tree = parse(file, workspace.sources, diags);
  if (!tree) {
    return nullptr;
  }
  Options options = workspace.options;
  options.layout = layout;
  auto built = std::make_unique<Built>(options, workspace.sources, diags);
  built->session.run(*std::move(tree));
  return built;
}

}  // namespace mtf

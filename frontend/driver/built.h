// A program evaluated under one of its layouts, with nothing lowered: a command does that for the
// entries that it is about.

#pragma once

#include <memory>
#include <string_view>

#include "frontend/driver/check_device.h"
#include "frontend/driver/workspace.h"

namespace mtf {

// Builds units and lowers none.
class BuildDevice final : public CheckDevice {
 public:
  BuildDevice();
  bool use(const Layout* /*chosen*/, std::span<const Layout> /*declared*/,
           DiagSink& /*diags*/) override {
    return true;
  }
};

struct Built {
  // `options.layout` is the one; one rank if there is none.
  Built(const Options& options, SourceMap& sources, DiagSink& diags);

  BuildDevice device;
  Session session;
};

// As if the command line had chosen the layout, so that `@` and `with layout` mean the same as when
// the program runs. `layout`: its name; "" for one rank. Null where the text does not parse.
[[nodiscard]] std::unique_ptr<Built> build(Workspace& workspace, FileId file,
                                           std::string_view layout, DiagSink& diags);

}  // namespace mtf

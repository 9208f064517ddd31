// A session on a device that computes nothing and remembers what it was asked.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/elaborate.h"
#include "frontend/parse/parse.h"
#include "stdlib/ops/table.h"

namespace mtf::elaborate_test {

class Recorder : public Device {
 public:
  bool use(const Layout* chosen, std::span<const Layout> declared, DiagSink& diags) override {
    ++uses;
    layout = chosen == nullptr ? "one rank" : chosen->name;
    layouts = declared.size();
    static_cast<void>(diags);
    return true;
  }

  void declare(Variable variable) override { variables.push_back(std::move(variable)); }

  std::optional<std::vector<TensorHandle>> run(const Unit& unit,
                                               std::span<const TensorHandle> arguments,
                                               DiagSink& diags) override {
    static_cast<void>(diags);
    units.push_back(&unit);
    handles.assign(arguments.begin(), arguments.end());
    std::vector<TensorHandle> results;
    for (const ValueId output : unit.program.outputs) {
      results.push_back(std::make_shared<const DeviceTensor>(unit.program.at(output).type));
    }
    return results;
  }

  bool save(const SaveRequest& request, DiagSink& /*diags*/) override {
    saved.push_back(request.path);
    return true;
  }
  bool restore(const RestoreRequest& request, DiagSink& /*diags*/) override {
    restored.push_back(request.path);
    return true;
  }

  std::optional<double> scalar(const TensorHandle& tensor) override {
    static_cast<void>(tensor);
    if (scalars.empty()) {
      return std::nullopt;
    }
    const double value = scalars.front();
    scalars.erase(scalars.begin());
    return value;
  }

  std::optional<HostTensor> value(const TensorHandle& tensor) override {
    const std::optional<double> first = scalar(tensor);
    if (!first) {
      return std::nullopt;
    }
    HostTensor all{.type = tensor->type, .data = {}};
    for (std::int64_t i = 0; i < tensor->type.shape.volume(); ++i) {
      with_type(tensor->type.dtype, [&](auto element) {
        element = static_cast<decltype(element)>(*first + static_cast<double>(i));
        const auto* bytes = reinterpret_cast<const std::byte*>(&element);
        all.data.insert(all.data.end(), bytes, bytes + sizeof(element));
      });
    }
    return all;
  }

  std::optional<std::string> text(const TensorHandle& tensor,
                                  const NumberFormat& /*numbers*/) override {
    return "<" + to_string(tensor->type) + ">";
  }

  bool forget(const Unit& unit) override {
    if (forgets) {
      forgotten.push_back(&unit);
    }
    return forgets;
  }

  void print(std::string_view line) override { lines.emplace_back(line); }

  bool forgets = false;
  std::vector<const Unit*> forgotten;
  int uses = 0;
  std::string layout;
  std::size_t layouts = 0;
  std::vector<Variable> variables;
  std::vector<const Unit*> units;     // as they were run
  std::vector<TensorHandle> handles;  // of the last run
  std::vector<double> scalars;        // what conditions will be; then unknown
  std::vector<std::string> lines;
  std::vector<std::string> saved;     // paths
  std::vector<std::string> restored;  // paths
};

// Runs programs in one session; nothing that it holds is copied or moved.
struct Bench {
  explicit Bench(ElaborateOptions given = {}) {
    given.ops = op_table();
    given.module_text = [this](std::string_view name) -> std::optional<std::string> {
      const auto found = modules.find(std::string(name));
      return found == modules.end() ? std::nullopt : std::optional(found->second);
    };
    given.module_names = {"optim", "nn"};
    session = std::make_unique<Session>(std::move(given), sources, device, diags);
  }

  Bench& run(std::string text) {
    const FileId file = sources.add({.name = "test.mtf", .path = path, .text = std::move(text)});
    std::optional<ast::File> tree = parse(file, sources, diags);
    if (tree) {
      session->run(std::move(*tree));
    }
    return *this;
  }

  // "2:5 unknown-name: …" for each message, in order.
  [[nodiscard]] std::vector<std::string> errors() const {
    std::vector<std::string> list;
    for (const Diag& diag : diags.diags()) {
      const std::string place =
          diag.span.file.valid() ? place_text(diag.span) + " " : std::string();
      list.push_back(place + std::string(slug(diag.kind)) + ": " + diag.text);
    }
    return list;
  }

  [[nodiscard]] std::vector<std::string> paths() const {
    std::vector<std::string> list;
    for (const Variable& variable : device.variables) {
      list.push_back(variable.path);
    }
    return list;
  }

  [[nodiscard]] std::string place_text(SourceSpan span) const {
    const Place place = sources.place(span.file, span.begin);
    return std::to_string(place.line) + ":" + std::to_string(place.column);
  }

  SourceMap sources;
  DiagSink diags;
  Recorder device;
  std::map<std::string, std::string> modules;
  std::string path;
  std::unique_ptr<Session> session;
};

using Lines = std::vector<std::string>;

// The printed lines of a program without errors; the errors of another.
inline Lines printed(const std::string& text) {
  Bench bench;
  bench.run(text);
  return bench.diags.ok() ? bench.device.lines : bench.errors();
}

}  // namespace mtf::elaborate_test

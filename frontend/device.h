// What the elaborator runs units on. The driver gives it one that executes, or one that only
// checks; the elaborator cannot tell, but that a check may not know a tensor's value.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/host_tensor.h"
#include "ir/layout/expectation.h"
#include "ir/layout/layout.h"
#include "ir/program.h"
#include "ir/support/number.h"

namespace mtf {

// A tensor that outlives the unit that computed it, held in the layout its rules give. Shared,
// because `let y = x` makes two names of one tensor.
struct DeviceTensor {
  explicit DeviceTensor(TensorType tensor_type) : type(std::move(tensor_type)) {}
  virtual ~DeviceTensor() = default;
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;
  DeviceTensor(DeviceTensor&&) = delete;
  DeviceTensor& operator=(DeviceTensor&&) = delete;

  TensorType type;
};
using TensorHandle = std::shared_ptr<const DeviceTensor>;

// A param or state. `init` is a program with one output of the variable's type and no inputs,
// simplified.
struct Variable {
  std::string path;
  TensorType type;
  bool trained = false;
  SourceSpan span;
  Program init;

  // For who declares it no more.
  [[nodiscard]] Variable without_init() const {
    return {.path = path, .type = type, .trained = trained, .span = span, .init = {}};
  }
};

// A program that can be run many times: built once per signature, so its address is its identity.
struct Unit {
  Program program;        // simplified, unless it is to be shown as it is written
  bool is_entry = false;  // a function called at top level; otherwise a top-level statement
  std::vector<Contract> contracts;  // of its own body
};

// save PATH, keep = N, part_bytes = N, note = TEXT
struct SaveRequest {
  std::string path;
  std::int64_t keep = 0;        // of those whose names differ in the last number only; 0: all
  std::int64_t part_bytes = 0;  // of tensors in one file; 0: as much as is usual
  std::string note = {};        // kept beside the tensors
  SourceSpan span;
};

// restore PATH as GLOBS, from = GLOBS, cast = true
struct RestoreRequest {
  std::string path;
  std::vector<std::string> globs;    // of paths of variables; empty: all, and the random stream
  std::vector<std::string> sources;  // what the file calls them, one for each glob; empty: the same
  bool cast = false;                 // digits may be lost
  SourceSpan span;
  bool is_of_this_run = false;  // a check saw the program save it before

  [[nodiscard]] bool names(std::string_view variable) const;
  // What the file calls a variable that it names; its own path if it names it not.
  [[nodiscard]] std::string in_file(const std::string& variable) const;
  // The paths of variables that take a tensor of the file, whether there are such or not.
  [[nodiscard]] std::vector<std::string> takers_of(const std::string& tensor) const;
};

class Device {
 public:
  Device() = default;
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  Device(Device&&) = delete;
  Device& operator=(Device&&) = delete;

  // Which layout everything that follows is held and run in. Called once, before the first `run`,
  // with the layout that was chosen (null: one rank) and all that the file declares. False: the
  // ranks at hand do not fit it, recorded in `diags`.
  virtual bool use(const Layout* chosen, std::span<const Layout> declared, DiagSink& diags) = 0;
  // A variable exists from here on; the device initialises it before the next unit runs.
  virtual void declare(Variable variable) = 0;
  // `arguments`: one per input that is no variable, in their order. Returns one handle per output,
  // or nullopt after an error (a layout that does not fit, a failed assert), recorded in `diags`.
  virtual std::optional<std::vector<TensorHandle>> run(const Unit& unit,
                                                       std::span<const TensorHandle> arguments,
                                                       DiagSink& diags) = 0;
  // The value of a scalar tensor, the same on all ranks; nullopt in a check.
  virtual std::optional<double> scalar(const TensorHandle& tensor) = 0;
  // All of the tensor, on every rank; nullopt in a check. Collective.
  virtual std::optional<HostTensor> value(const TensorHandle& tensor) = 0;
  // The tensor as `print` shows it; nullopt in a check. Collective: every rank calls it.
  virtual std::optional<std::string> text(const TensorHandle& tensor,
                                          const NumberFormat& numbers) = 0;
  // One line of the program's output.
  virtual void print(std::string_view line) = 0;

  // Whether tensors of these types, that no rule of their own is about, fit each layout that units
  // are checked for.
  [[nodiscard]] virtual bool fit_layouts(std::span<const TensorType> /*types*/) { return true; }
  // The unit is about to go, and will be made again if it is needed. False: it has to stay.
  virtual bool forget(const Unit& /*unit*/) { return false; }
  // A number of the program's own about its training, for who follows it; without a step it is of
  // the last one.
  virtual void metric(std::string_view /*name*/, double /*value*/,
                      std::optional<std::int64_t> /*step*/) {}

  // What the first rank has found, for all, where each looks for itself at what may change
  // meanwhile. Collective.
  virtual std::string of_first_rank(std::string mine) { return mine; }

  // Writes every variable, or gives those that exist, and those that are declared later, what a
  // file has. Collective. False: an error, the same on all ranks, and nothing has changed. In a
  // check a path may be empty: nobody knows it.
  virtual bool save(const SaveRequest& request, DiagSink& diags) = 0;
  virtual bool restore(const RestoreRequest& request, DiagSink& diags) = 0;
  // The note that a file was saved with. nullopt: an error, or a check to which the file is not
  // there yet.
  virtual std::optional<std::string> note_of(const RestoreRequest& /*request*/,
                                             DiagSink& /*diags*/) {
    return std::nullopt;
  }
  // The loop that runs now saves at each turn, or might; and whether it has to at this one, because
  // the run is to end.
  virtual void expect_save(bool /*expected*/) {}
  [[nodiscard]] virtual bool wants_save() const { return false; }
  // All statements of the program have run; `failed`: not all of them to their end.
  virtual void end(bool /*failed*/, DiagSink& /*diags*/) {}
};

// A device on which no tensor has a value: what is run on it is looked at, and nothing is computed.
class DryDevice : public Device {
 public:
  void declare(Variable /*variable*/) override {}
  std::optional<double> scalar(const TensorHandle& /*tensor*/) override { return std::nullopt; }
  std::optional<HostTensor> value(const TensorHandle& /*tensor*/) override { return std::nullopt; }
  std::optional<std::string> text(const TensorHandle& /*tensor*/,
                                  const NumberFormat& /*numbers*/) override {
    return std::nullopt;
  }
  void print(std::string_view /*line*/) override {}
  bool save(const SaveRequest& /*request*/, DiagSink& /*diags*/) override { return true; }
  bool restore(const RestoreRequest& /*request*/, DiagSink& /*diags*/) override { return true; }
};

}  // namespace mtf

#include "frontend/driver/commands/verify_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "frontend/driver/devices/checked.h"
#include "frontend/driver/devices/contracts.h"
#include "frontend/driver/originals/written_files.h"
#include "frontend/driver/search/automatic.h"
#include "frontend/parse/parse.h"
#include "ir/support/number.h"
#include "ir/support/stop.h"
#include "stdlib/ops/source/npy.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

// One draw may be lucky: where two numbers are nearly equal, every other one moves both alike.
constexpr std::uint64_t kDraws = 8;

// Labels, counts and masks are whole numbers, which no order of sums rounds.
enum class Moved : std::uint8_t { kAll, kBroken };

template <typename T>
void move_digits(std::byte* data, std::int64_t bytes, Moved which, std::mt19937_64& digits) {
  constexpr T kMost = std::numeric_limits<T>::infinity();
  for (std::int64_t at = 0; at < bytes; at += static_cast<std::int64_t>(sizeof(T))) {
    T value{};
    std::memcpy(&value, data + at, sizeof(T));
    const T moved = std::nextafter(value, (digits() & 1U) != 0 ? kMost : -kMost);
    const bool stays = which == Moved::kBroken && std::trunc(value) == value;
    if (!stays && std::isnormal(value) && std::isnormal(moved)) {
      std::memcpy(data + at, &moved, sizeof(T));
    }
  }
}

// Of what is stored wide: the last digit of bf16 is more than what a sum rounds.
void move_last_digits(RankTensor& tensor, Moved moved, std::mt19937_64& digits) {
  for (Buffer& part : tensor.parts) {
    if (part.file() != nullptr) {
      continue;
    }
    if (tensor.type.dtype == DType::kF32) {
      move_digits<float>(part.data(), part.bytes(), moved, digits);
    } else if (tensor.type.dtype == DType::kF64) {
      move_digits<double>(part.data(), part.bytes(), moved, digits);
    }
  }
}

// Why `mtf run` would not begin; "" if it would.
std::string refusal(Workspace& workspace, FileId file, const std::string& layout, DiagSink& diags) {
  const std::unique_ptr<CheckedProgram> program = check_under(workspace, file, layout, diags);
  if (!diags.ok()) {
    return "does not fit";
  }
  check_contracts(workspace, *program, in_use(*program), diags);
  return diags.ok() ? "" : "does not keep an `expect`";
}

bool sums(const Program& program, ValueId id) {
  const OpDef* op = program.at(id).op;
  return op != nullptr && op->space != nullptr &&
         std::ranges::any_of(op->space(call_of(program, id)).loops, [](const LoopDim& loop) {
           return loop.role == DimRole::kReduced || loop.role == DimRole::kScanned;
         });
}

// Of all that sums are in, or what is given to the program: no order changes a table of numbers.
double narrow_tolerance(const Program& program) {
  double most = 0;
  std::vector<char> varies(program.values.size());
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    const Value& value = program.at(id);
    const bool is_from_varying = std::ranges::any_of(value.operands, [&](ValueId operand) {
      return varies[static_cast<std::size_t>(operand.index)] != 0;
    });
    const bool is_effect = value.op != nullptr && value.op->effect;
    const bool is_free = value.op == nullptr || is_from_varying || sums(program, id);
    varies[i] = is_free && !is_effect ? 1 : 0;
    most = varies[i] != 0 ? std::max(most, tolerance_of(value.type.dtype)) : most;
  }
  return most;
}

std::string place_of(const Unit& unit, ValueId output, const SourceMap& sources) {
  if (unit.is_entry) {
    return "what " + in_backticks(unit.program.name) + " gives";
  }
  const Value& value = unit.program.at(output);
  return (value.name.empty() ? "the value" : in_backticks(value.name)) + " of " +
         sources.short_place(value.span);
}

// Notes what a run shows, and which endings of the promise have to do with it.
class Observer {
 public:
  Observer(const SourceMap& sources, const std::vector<Ending>& endings, Trace& trace)
      : sources_(sources), endings_(endings), trace_(trace) {}

  // Of all tensors that were noted.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  void see(HostTensor tensor) {
    note(trace_.seen, "printed line " + std::to_string(trace_.lines.size() + 1), std::move(tensor),
         latest());
  }

  void see_result(const Unit& unit, ValueId output, HostTensor tensor) {
    note(trace_.results, place_of(unit, output, sources_), std::move(tensor), endings_of(unit));
  }

 private:
  void note(std::vector<Trace::Observed>& list, std::string where, HostTensor tensor,
            std::size_t endings) {
    bytes_ += std::ssize(tensor.data);
    list.push_back({.tensor = std::move(tensor),
                    .where = std::move(where),
                    .order = trace_.seen.size() + trace_.results.size(),
                    .endings = endings});
  }

  // The first of those that were found last.
  std::size_t latest() {
    if (endings_.size() > known_) {
      first_ = std::exchange(known_, endings_.size());
    }
    return first_;
  }

  // A unit is lowered before its first run alone.
  std::size_t endings_of(const Unit& unit) {
    const std::size_t here = endings_.size() > known_ ? known_ : endings_.size();
    static_cast<void>(latest());
    return units_.try_emplace(&unit, here).first->second;
  }

  const SourceMap& sources_;
  const std::vector<Ending>& endings_;
  Trace& trace_;
  std::int64_t bytes_ = 0;
  std::size_t first_ = 0;
  std::size_t known_ = 0;
  std::map<const Unit*, std::size_t> units_;
};

// What a program writes, by path.
void note_files(const Program& program, std::map<std::string, HostTensor>& files) {
  for (const Value& value : program.values) {
    const auto* path = value.args.get<std::string>("path");
    if (value.op != nullptr && value.op->file == FileUse::kWrites && path != nullptr &&
        !value.operands.empty()) {
      files[*path].type = program.at(value.operands.front()).type;
    }
  }
}

// As they are once the run is over.
void read_files(std::map<std::string, HostTensor>& files) {
  for (auto& [path, tensor] : files) {
    tensor.data.resize(static_cast<std::size_t>(tensor.type.bytes()));
    if (!NpyFile(path).read(0, tensor.data).empty()) {
      tensor.data.clear();
    }
  }
}

std::function<void(RankTensor&)> moving(std::uint64_t draw, Moved moved, std::mt19937_64& digits) {
  if (draw == 0) {
    return {};
  }
  return [moved, &digits](RankTensor& tensor) { move_last_digits(tensor, moved, digits); };
}

// requires: nothing is refused.
void run_under(Workspace& workspace, FileId file, const VerifyRun& run, VerifyResult& result,
               DiagSink& diags) {
  Trace trace;
  WrittenFiles written;
  Interruption deadline(workspace.options.deadline);
  std::mt19937_64 digits(run.draw);
  Observer observer(workspace.sources, result.endings, trace);
  ExecuteDevice device(
      {.ops = op_table(),
       .exact = run.exact,
       .seed = workspace.options.seed,
       .max_memory = workspace.options.max_memory,
       .check_plan = plans_are_to_be_checked(),
       .print = [&](std::string_view line) { trace.lines.emplace_back(line); },
       .observe = [&](HostTensor tensor) { observer.see(std::move(tensor)); },
       .observe_result =
           [&](const Unit& unit, ValueId output, HostTensor tensor) {
             observer.see_result(unit, output, std::move(tensor));
           },
       .lowered =
           [&](const SpmdProgram& program) {
             std::ranges::copy(endings_of(program), std::back_inserter(result.endings));
             note_files(program.source, trace.files);
             trace.narrow = std::max(trace.narrow, narrow_tolerance(program.source));
             written.note(program.source);
           },
       .initialised = moving(run.draw, Moved::kAll, digits),
       .given = moving(run.draw, Moved::kBroken, digits),
       .compared = [&] { return run.kept + observer.bytes(); },
       .interruption = &deadline,
       .checkpoints = written.checkpoints()},
      nullptr);
  std::optional<ast::File> tree = parse_program(workspace, file, diags);
  ElaborateOptions host = choosing(workspace.options, run.layout);
  host.before_statement = throw_if_interrupted;
  host.search = automatic(workspace, file);
  Session session(std::move(host), workspace.sources, device, diags);
  session.run(*std::move(tree));
  const std::vector<std::string> added = written.lines();
  read_files(trace.files);
  written.restore(diags);
  if (diags.ok()) {
    trace.variables = device.variables();
    std::ranges::copy(added, std::back_inserter(trace.lines));
    result.trace = std::move(trace);
  }
}

}  // namespace

VerifyResult run_to_verify(Workspace& workspace, FileId file, const VerifyRun& run) {
  DiagSink diags;
  Messages messages(workspace.sources);
  VerifyResult result;
  if (const std::string why = refusal(workspace, file, run.layout, diags); !why.empty()) {
    result.refused = why;
  } else {
    run_under(workspace, file, run, result, diags);
  }
  result.told = messages.take(diags);
  const auto late = std::ranges::find(result.told, kTimeIsOver, &Diag::text);
  if (late != result.told.end()) {
    throw Failure{std::move(*late)};
  }
  return result;
}

std::vector<Trace> rounded_runs(Workspace& workspace, FileId file, std::int64_t kept) {
  std::vector<Trace> traces;
  for (std::uint64_t draw = 1; draw <= kDraws; ++draw) {
    VerifyResult result =
        run_to_verify(workspace, file, {.layout = "", .exact = true, .draw = draw, .kept = kept});
    if (result.trace) {  // an `assert` may ask for every digit
      kept += result.trace->bytes();
      traces.push_back(*std::move(result.trace));
    }
  }
  return traces;
}

}  // namespace mtf

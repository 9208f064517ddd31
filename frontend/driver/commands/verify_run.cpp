#include "frontend/driver/commands/verify_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "frontend/driver/devices/checked.h"
#include "frontend/driver/devices/contracts.h"
#include "frontend/parse/parse.h"
#include "ir/support/file.h"
#include "ir/support/number.h"
#include "stdlib/ops/source/npy.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

// One draw may be lucky; of three, all three are in one case of some thousands.
constexpr std::uint64_t kDraws = 3;

template <typename T>
void move_digits(std::byte* data, std::int64_t bytes, std::mt19937_64& digits) {
  constexpr T kMost = std::numeric_limits<T>::infinity();
  for (std::int64_t at = 0; at < bytes; at += static_cast<std::int64_t>(sizeof(T))) {
    T value{};
    std::memcpy(&value, data + at, sizeof(T));
    const T moved = std::nextafter(value, (digits() & 1U) != 0 ? kMost : -kMost);
    if (std::isnormal(value) && std::isnormal(moved)) {
      std::memcpy(data + at, &moved, sizeof(T));
    }
  }
}

// Of what is stored wide: the last digit of bf16 is more than what a sum rounds.
void move_last_digits(RankTensor& variable, std::mt19937_64& digits) {
  for (Buffer& part : variable.parts) {
    if (part.file() != nullptr) {
      continue;
    }
    if (variable.type.dtype == DType::kF32) {
      move_digits<float>(part.data(), part.bytes(), digits);
    } else if (variable.type.dtype == DType::kF64) {
      move_digits<double>(part.data(), part.bytes(), digits);
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

double narrow_tolerance(const Program& program) {
  double most = 0;
  for (const Value& value : program.values) {
    most = is_narrow(value.type.dtype) ? std::max(most, tolerance_of(value.type.dtype)) : most;
  }
  return most;
}

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

void require_made(const TemporaryFolder& folder) {
  if (!folder.is_made()) {
    throw Failure{{.kind = DiagKind::kFile,
                   .text = "no folder can be made in " + in_backticks(folder.path())}};
  }
}

// Files that a run writes, or adds lines to. Each is put back as it was, so that every layout
// begins with the same, and the user's are as they were: whatever ends the run.
class WrittenFiles {
 public:
  WrittenFiles() { require_made(folder_); }
  ~WrittenFiles() {
    DiagSink unheard;
    restore(unheard);
  }
  WrittenFiles(const WrittenFiles&) = delete;
  WrittenFiles& operator=(const WrittenFiles&) = delete;
  WrittenFiles(WrittenFiles&&) = delete;
  WrittenFiles& operator=(WrittenFiles&&) = delete;

  // Before the program runs.
  void note(const Program& program) {
    for (const Value& value : program.values) {
      const auto* path = value.args.get<std::string>("path");
      if (value.op != nullptr && value.op->file == FileUse::kWrites && path != nullptr) {
        note(behind_links(*path), value.operands.empty());
      }
    }
  }

  // Which of them cannot be put back is an error.
  void restore(DiagSink& diags) {
    for (const auto& [path, file] : std::exchange(files_, {})) {
      if (const std::error_code error = put_back(path, file); error) {
        diags.error(
            DiagKind::kFile, {},
            in_backticks(path) + " was written by this run and cannot be put back as it was, " +
                (file.size ? plural(*file.size, "byte") : "not there") + ": " + error.message());
      }
    }
  }

  // What was added.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const auto& [path, kept] : files_) {
      if (!kept.gets_lines) {
        continue;
      }
      std::ifstream file(path);
      file.seekg(static_cast<std::streamoff>(kept.size.value_or(0)));
      for (std::string line; std::getline(file, line);) {
        lines.push_back(path + ": " + line);
      }
    }
    return lines;
  }

 private:
  struct Kept {
    std::optional<std::uintmax_t> size;  // nullopt: it was not there
    bool gets_lines = false;
    std::string kept_as;  // of one that is replaced, what was there
  };

  void note(const std::string& path, bool gets_lines) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    const bool is_new = error == std::errc::no_such_file_or_directory;
    if (files_.contains(path) || (error && !is_new)) {  // to any other the run will write nothing
      return;
    }
    Kept file{.size = is_new ? std::nullopt : std::optional(size),
              .gets_lines = gets_lines,
              .kept_as = folder_.path() + "/" + std::to_string(files_.size())};
    if (!is_new && !gets_lines) {
      keep(path, file.kept_as);
    }
    files_.emplace(path, std::move(file));
  }

  // A file is replaced by another, so that a second name keeps it; on another disk a copy does.
  static void keep(const std::string& path, const std::string& as) {
    std::error_code error;
    std::filesystem::create_hard_link(path, as, error);
    if (error) {
      std::filesystem::copy_file(path, as, error);
    }
    if (error) {
      throw Failure{
          {.kind = DiagKind::kFile,
           .text = in_backticks(path) +
                   ", which the program writes, cannot be kept as it is: " + error.message()}};
    }
  }

  static std::error_code put_back(const std::string& path, const Kept& file) {
    std::error_code error;
    if (!file.size) {
      std::filesystem::remove(path, error);
    } else if (file.gets_lines) {
      const bool is_longer = std::filesystem::file_size(path, error) != *file.size;
      if (is_longer) {
        std::filesystem::resize_file(path, *file.size, error);
      }
    } else {
      std::filesystem::rename(file.kept_as, path, error);
      if (error == std::errc::cross_device_link) {
        std::filesystem::copy_file(file.kept_as, path,
                                   std::filesystem::copy_options::overwrite_existing, error);
      }
    }
    return error;
  }

  TemporaryFolder folder_{"mtf_verify_"};
  std::map<std::string, Kept> files_;
};

// As they are once the run is over.
void read_files(std::map<std::string, HostTensor>& files) {
  for (auto& [path, tensor] : files) {
    tensor.data.resize(static_cast<std::size_t>(tensor.type.bytes()));
    if (!NpyFile(path).read(0, tensor.data).empty()) {
      tensor.data.clear();
    }
  }
}

std::function<void(RankTensor&)> moving(std::uint64_t draw, std::mt19937_64& digits) {
  if (draw == 0) {
    return {};
  }
  return [&digits](RankTensor& variable) { move_last_digits(variable, digits); };
}

// requires: nothing is refused.
void run_under(Workspace& workspace, FileId file, const VerifyRun& run, VerifyResult& result,
               DiagSink& diags) {
  Trace trace;
  WrittenFiles written;
  // Where its checkpoints go instead: each layout begins without those of the others, and those of
  // the user stay.
  const TemporaryFolder checkpoints("mtf_verify_");
  require_made(checkpoints);
  Interruption deadline(workspace.options.deadline);
  std::mt19937_64 digits(run.draw);
  ExecuteDevice device(
      {.ops = op_table(),
       .exact = run.exact,
       .seed = workspace.options.seed,
       .max_memory = workspace.options.max_memory,
       .check_plan = plans_are_to_be_checked(),
       .print = [&](std::string_view line) { trace.lines.emplace_back(line); },
       .observe =
           [&](HostTensor tensor) {
             trace.seen.push_back({.tensor = std::move(tensor), .line = trace.lines.size() + 1});
           },
       .observe_result =
           [&](std::string_view entry, HostTensor tensor) {
             trace.results.emplace_back(entry, std::move(tensor));
           },
       .lowered =
           [&](const SpmdProgram& program) {
             std::ranges::copy(endings_of(program), std::back_inserter(result.endings));
             note_files(program.source, trace.files);
             trace.narrow = std::max(trace.narrow, narrow_tolerance(program.source));
             written.note(program.source);
           },
       .initialised = moving(run.draw, digits),
       .interruption = &deadline,
       .checkpoints = checkpoints.path()},
      nullptr);
  std::optional<ast::File> tree = parse_program(workspace, file, diags);
  ElaborateOptions host = choosing(workspace.options, run.layout);
  host.before_statement = throw_if_interrupted;
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
  return result;
}

std::vector<Trace> rounded_runs(Workspace& workspace, FileId file) {
  std::vector<Trace> traces;
  for (std::uint64_t draw = 1; draw <= kDraws; ++draw) {
    VerifyResult result =
        run_to_verify(workspace, file, {.layout = "", .exact = true, .draw = draw});
    if (result.trace) {  // an `assert` may ask for every digit
      traces.push_back(*std::move(result.trace));
    }
  }
  return traces;
}

}  // namespace mtf

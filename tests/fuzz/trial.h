// Runs command lines of mtf in processes of their own, and says how they ended.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fuzz {

// What a trial may take; beyond it is a find.
struct Limits {
  double seconds = 10;  // of processor time
  std::int64_t memory_mib = 2048;
};

enum class Ending : std::uint8_t { kFine, kSignal, kHang, kInternal, kMemory, kMute, kWrong };

struct Find {
  Ending ending = Ending::kFine;
  std::string what;  // the same for finds of one cause: a signal and where, the message of an error
};

struct Trial {
  std::filesystem::path folder;  // where it runs
  std::string text;              // of the program
  std::vector<std::string> args;
};

// Runs trials `begin` to `end` one after the other in one process, which is fast; at the first find
// it stops. `made` makes one of its number. Returns the number of the find, or `end`.
struct Batch {
  std::uint64_t stopped = 0;
  Find find;
};
[[nodiscard]] Batch run_batch(std::uint64_t begin, std::uint64_t end,
                              const std::function<Trial(std::uint64_t)>& made,
                              const Limits& limits);

// The same in a process that has run nothing before. `mtf`: the program to start; empty: a fork.
[[nodiscard]] Find run_alone(const Trial& trial, const Limits& limits,
                             const std::filesystem::path& mtf);

// Of the trials so far: how near they came to the limits.
struct Use {
  std::uint64_t done = 0;  // ended with status 0, being programs
  double most_seconds = 0;
  std::int64_t most_mib = 0;
};
[[nodiscard]] Use use_so_far();

[[nodiscard]] std::string to_string(Ending ending);

}  // namespace fuzz

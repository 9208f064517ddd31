// The predicted peak is what the plan says; nine tenths of what is available may be used.

#include "frontend/driver/devices/memory/memory_check.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "frontend/report/plan/step_text.h"
#include "frontend/report/quantity.h"
#include "ir/support/index.h"

namespace mtf {
namespace {

std::optional<std::int64_t> number_in(const char* path) {
  std::ifstream stream(path);
  std::int64_t value = 0;
  return stream >> value ? std::optional(value) : std::nullopt;  // "max" is no number
}

std::optional<std::int64_t> left_on_machine() {
  std::ifstream stream("/proc/meminfo");
  std::int64_t kib = 0;
  for (std::string word; stream >> word;) {
    if (word == "MemAvailable:" && stream >> kib) {
      return kib * 1024;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> left_in_group() {
  const std::optional<std::int64_t> limit = number_in("/sys/fs/cgroup/memory.max");
  const std::optional<std::int64_t> used = number_in("/sys/fs/cgroup/memory.current");
  return limit && used ? std::optional(*limit - *used) : std::nullopt;
}

// Of the addresses that `ulimit -v` leaves a process, as batch systems set it.
std::optional<std::int64_t> left_to_process() {
  rlimit limit{};
  const std::optional<std::int64_t> pages = number_in("/proc/self/statm");
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || !pages) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(limit.rlim_cur) - *pages * sysconf(_SC_PAGESIZE);
}

std::string name_of(const SpmdProgram& program, const SpmdValue& value) {
  const std::string name =
      value.name.empty() ? describe(program.source, value.origin) : "`" + value.name + "`";
  return name + " " + type_text(value);
}

}  // namespace

std::optional<AvailableMemory> available_memory(std::int64_t processes) {
  std::optional<AvailableMemory> least;
  const auto at_most = [&least](std::optional<std::int64_t> bytes, bool is_limit) {
    if (bytes && (!least || *bytes < least->bytes)) {
      least = AvailableMemory{.bytes = *bytes, .is_limited = is_limit};
    }
  };
  at_most(left_on_machine(), false);
  at_most(left_in_group(), false);
  if (const std::optional<std::int64_t> one = left_to_process()) {
    at_most(saturating_product(std::max(*one, std::int64_t{0}), processes), true);
  }
  return least;
}

std::optional<Diag> memory_shortage(const SpmdProgram& program, const MemoryNeed& need) {
  const std::int64_t peak = program.totals.peak_bytes;
  const std::int64_t needed = saturating_product(peak, need.ranks) - need.in_files;
  const std::int64_t held = saturating_product(need.held, need.ranks);
  const std::int64_t most = need.is_asked ? need.available : need.available / 10 * 9;
  if (needed <= most - held - need.compared) {
    return std::nullopt;
  }
  const auto largest = std::ranges::max_element(program.values, {}, [](const SpmdValue& value) {
    return value.home == Home::kNone ? 0 : value.held_bytes();
  });
  std::string text = std::string(need.what) + " needs " + bytes_text(needed) + " of memory";
  text += need.ranks > 1 ? ", " + bytes_text(peak) + " for each of " + std::to_string(need.ranks) +
                               " ranks on this machine"
                         : "";
  text += held > 0 ? ", beside " + bytes_text(held) + " that other values hold" : "";
  text += need.compared > 0 ? (held > 0 ? " and " : ", beside ") + bytes_text(need.compared) +
                                  " that are kept to be compared"
                            : "";
  const std::string there = bytes_text(std::max(need.available, std::int64_t{0}));
  text +=
      need.is_asked ? ", and `--max-memory` allows " + there : ", and " + there + " are available";
  text += need.is_limited ? " under `ulimit -v`" : "";
  const bool is_there = needed <= need.available - held && !need.is_asked;
  text += is_there ? ", of which nine tenths may be used" : "";
  Diag diag{.kind = DiagKind::kMemory, .text = std::move(text)};
  if (largest != program.values.end()) {
    diag.span = program.source.at(largest->origin).span;
    diag.notes.push_back({.text = "the largest tensor is " + name_of(program, *largest) + ", " +
                                  bytes_text(largest->held_bytes()) + " on each rank"});
  }
  return diag;
}

}  // namespace mtf

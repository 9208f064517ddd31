// Milliseconds of processor time to plan the top entries of programs in each of their layouts: to
// build them (parse, elaborate, differentiate), to simplify them, and to lower what is simplified:
// for a plan, for its price alone, and for that with what a lowering before it found. Each is the
// least of several turns.
//
//   bench_planning FILE…

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string>

#include "frontend/driver/devices/checked.h"
#include "frontend/driver/entry_names.h"
#include "ir/rewrite/rewrite.h"
#include "lowering/lower.h"
#include "stdlib/ops/table.h"

namespace {

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double least_ms(const std::function<void()>& body) {
  double least = 1e30;
  const double begin = processor_ms();
  for (int turn = 0; turn < 200 && (turn < 3 || processor_ms() - begin < 1000); ++turn) {
    const double before = processor_ms();
    body();
    least = std::min(least, processor_ms() - before);
  }
  return least;
}

void plan(const std::string& path) {
  mtf::Options options;
  options.file = path;
  mtf::Workspace workspace(options);
  const std::optional<mtf::FileId> file = mtf::read_program(workspace);
  std::unique_ptr<mtf::CheckedProgram> built;
  const double build_ms =
      least_ms([&] { built = mtf::as_written(workspace, *file, workspace.diags); });
  for (const std::string& entry : mtf::top_entries(built->session)) {
    const mtf::Unit* unit = built->session.build(entry);
    mtf::Program simplified;
    const double simplify_ms =
        least_ms([&] { simplified = mtf::simplify(unit->program, mtf::op_table()); });
    std::printf("%s %s: %zu values, build %.2f, simplify %.2f\n", path.c_str(), entry.c_str(),
                simplified.values.size(), build_ms, simplify_ms);
    for (const mtf::Layout& layout : built->session.layouts()) {
      std::size_t steps = 0;
      const auto lower_ms = [&](const mtf::LowerOptions& how) {
        return least_ms([&] {
          mtf::DiagSink diags;
          const auto planned =
              mtf::lower_simplified(simplified, layout, mtf::op_table(), diags, how);
          steps = planned ? planned->steps.size() : 0;
        });
      };
      mtf::PlanCache cache;
      const double whole = lower_ms({});
      const double price_only = lower_ms({.price_only = true});
      const double cached = lower_ms({.price_only = true, .cache = &cache});
      std::printf("  %-16s %6zu steps %9.3f ms, for its price %9.3f, cached %9.3f\n",
                  layout.name.c_str(), steps, whole, price_only, cached);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    plan(arguments[i]);
  }
}

// What runs add up to, the mpirun line, and what does not fit into memory.

#include "frontend/report/run/counts.h"

#include <sstream>

#include <catch2/catch.hpp>

#include "frontend/driver/devices/memory/memory_check.h"
#include "frontend/driver/launch/cores.h"
#include "frontend/driver/launch/limits.h"
#include "frontend/driver/launch/line.h"
#include "frontend/report/json.h"
#include "frontend/report/run/counts_text.h"

namespace mtf {
namespace {

const Mesh kGrid{.name = "grid",
                 .axes = {{.name = "rows", .size = 2}, {.name = "cols", .size = 2}}};

Totals one_run() {
  return {.flops = 100,
          .peak_bytes = 4096,
          .collectives = {{.kind = StepKind::kAllReduce,
                           .axes = {0},
                           .calls = 1,
                           .messages = 1,
                           .elements = 8,
                           .received = 8,
                           .bytes = 32,
                           .sent_bytes = 32,
                           .received_bytes = 32}}};
}

Totals planned(std::int64_t parameters) {
  Totals totals = one_run();
  totals.parameters = parameters;
  return totals;
}

}  // namespace

TEST_CASE("an entry's runs add up, its peak does not") {
  RankCounts counts{.rank = 1};
  count_run(counts, "step", one_run(), planned(10));
  count_run(counts, "step", one_run(), planned(10));
  count_run(counts, "", one_run(), planned(0));
  REQUIRE(counts.entries.size() == 1);
  CHECK(counts.entries[0].calls == 2);
  CHECK(counts.entries[0].totals.flops == 200);
  CHECK(counts.entries[0].totals.peak_bytes == 4096);
  CHECK(counts.entries[0].totals.parameters == 10);
  CHECK(counts.entries[0].totals.collectives[0].bytes == 64);
  CHECK(counts.totals.collectives[0].calls == 3);
}

TEST_CASE("an entry that costs otherwise when called in another way is counted apart") {
  RankCounts counts;
  Totals larger = planned(10);
  larger.peak_bytes += 64;
  count_run(counts, "step", one_run(), planned(10));
  count_run(counts, "step", larger, larger);
  count_run(counts, "look", one_run(), planned(10));
  count_run(counts, "step", one_run(), planned(10));
  REQUIRE(counts.entries.size() == 3);
  CHECK(counts.entries[0].calls == 2);
  CHECK(counts.entries[0].totals.peak_bytes == 4096);
  CHECK(counts.entries[1].form == 2);
  CHECK(counts.entries[1].totals.peak_bytes == 4160);
  CHECK(counts.entries[2].form == 1);
}

TEST_CASE("counts are one JSON object, a rank after the other") {
  RankCounts counts{.rank = 1};
  count_run(counts, "step", one_run(), planned(10));
  const std::string totals = R"({"flops":100.0,"peak_bytes":4096,"parameters":)";
  const std::string collectives =
      R"(,"collectives":[{"kind":"all_reduce","axes":["rows"],"calls":1,"messages":1,"elements":8,)"
      R"("received":8,"bytes":32}]})";
  const std::string rank = rank_json(counts, kGrid);
  CHECK(rank == R"({"rank":1,"coordinates":{"rows":0,"cols":1},"messages":[{"kind":)"
                R"("all_reduce","axes":["rows"],"sent_bytes":32,"received_bytes":32}],)"
                R"("entries":[{"entry":"step",)"
                R"("form":1,"calls":1,"totals":)" +
                    totals + "10" + collectives + R"(}],"totals":)" + totals + "0" + collectives +
                    "}");
  CHECK(counts_json(std::vector<std::string>{rank, rank}) ==
        R"({"ranks":[)" + rank + "," + rank + "]}\n");
}

TEST_CASE("ranks that did the same are shown once") {
  RankCounts counts;
  count_run(counts, "step", one_run(), planned(8320));
  const std::vector<std::string> ranks(2, rank_json(counts, kGrid));
  const std::vector<std::string> texts(2, rank_text(counts, kGrid));
  CHECK(counts_text(texts, ranks) ==
        "counted on each of 2 ranks\n\n"
        "step, 1 call\n"
        "  compute               100 FLOP\n"
        "  memory                4.0 KiB at peak\n"
        "  parameters            8,320\n"
        "  all_reduce over rows  1 call           8 elements in  32 B received\n\n"
        "the whole program\n"
        "  compute               100 FLOP\n"
        "  memory                4.0 KiB at peak\n"
        "  parameters            0\n"
        "  all_reduce over rows  1 call           8 elements in  32 B received\n");
}

TEST_CASE("where ranks differ, the one that receives most is told of") {
  std::vector<std::string> jsons;
  std::vector<std::string> texts;
  for (const std::int64_t bytes : {32, 96, 96}) {
    Totals run = one_run();
    run.collectives.front().bytes = bytes;
    RankCounts counts{.rank = std::ssize(jsons)};
    count_run(counts, "step", run, planned(8320));
    jsons.push_back(rank_json(counts, kGrid));
    texts.push_back(rank_text(counts, kGrid));
  }
  const std::string text = counts_text(texts, jsons);
  CHECK(text.starts_with("counted on rank 1, of all the one that receives most; the others "));
  CHECK(text.find("8 elements in  96 B received") != std::string::npos);
}

TEST_CASE("threads of one core share its slot") {
  std::istringstream four_threads(
      "processor : 0\nphysical id : 0\ncore id : 0\n\nprocessor : 1\nphysical id : 0\ncore id : "
      "1\n\n"
      "processor : 2\nphysical id : 0\ncore id : 0\n\nprocessor : 3\nphysical id : 0\ncore id : "
      "1\n");
  CHECK(cores_in(four_threads) == 2);
  std::istringstream two_packages("physical id : 0\ncore id : 0\nphysical id : 1\ncore id : 0\n");
  CHECK(cores_in(two_packages) == 2);
  std::istringstream nothing("processor : 0\n");
  CHECK(cores_in(nothing) == 0);
}

TEST_CASE("the mpirun line has all words but -n, and room for more ranks than cores") {
  const std::vector<std::string> args = {"run", "-n", "4", "a b.mtf", "--layout", "both"};
  const Options options = std::get<Options>(parse_options(args));
  CHECK(mpirun_line(options, "/bin/mtf", 8) ==
        std::vector<std::string>{"mpirun", "-q", "--bind-to", "none", "-n", "4", "/bin/mtf", "run",
                                 "a b.mtf", "--layout", "both"});
  CHECK(mpirun_line(options, "/bin/mtf", 2)[6] == "--oversubscribe");
  CHECK(mpirun_line(options, "/bin/mtf", 8, /*joined=*/true)[7] ==
        "iof_base_redirect_app_stderr_to_stdout");
}

TEST_CASE("ranks beyond the limits of the machine are told with what they would need") {
  CHECK(too_many_ranks(64, {.threads = 32768, .files = 1024}).empty());
  CHECK(too_many_ranks(65536, {.threads = 32768, .files = 1024}) ==
        "65,536 ranks would need 262,144 open files of `mpirun`, and this machine allows 1,024; "
        "start at most 256");
  CHECK(too_many_ranks(65536, {.threads = 32768, .files = 1 << 20}) ==
        "65,536 ranks would need 196,608 processes and threads, and this machine allows 32,768; "
        "start at most 10,922");
}

TEST_CASE("a program that does not fit names its largest tensor") {
  SpmdProgram program;
  program.source.name = "step";
  program.source.values.resize(1);
  program.totals.peak_bytes = std::int64_t{1} << 30;
  const TensorType type{.dtype = DType::kF32, .shape = Shape({{"io", 1 << 20}})};
  program.values.push_back({.type = type,
                            .layout = replicated(type.shape),
                            .local = type,
                            .origin = {0},
                            .name = "h",
                            .home = Home::kArena});
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  MemoryNeed need{.what = "`step`", .ranks = 2, .available = 4 * kGiB};
  CHECK_FALSE(memory_shortage(program, need));
  need.ranks = 4;
  const std::optional<Diag> shortage = memory_shortage(program, need);
  REQUIRE(shortage);
  CHECK(shortage->text ==
        "`step` needs 4.0 GiB of memory, 1.0 GiB for each of 4 ranks on this machine, and 4.0 GiB "
        "are available, of which nine tenths may be used");
  REQUIRE(shortage->notes.size() == 1);
  CHECK(shortage->notes[0].text ==
        "the largest tensor is `h` f32[io 1048576], 4.0 MiB on each rank");
  need = {.what = "`step`", .held = 3 * kGiB, .available = 4 * kGiB, .is_asked = true};
  CHECK_FALSE(memory_shortage(program, need));
  need.held += 1;
  CHECK(memory_shortage(program, need)->text ==
        "`step` needs 1.0 GiB of memory, beside 3.0 GiB that other values hold, and "
        "`--max-memory` allows 4.0 GiB");
  need = {.what = "`step`", .available = kGiB, .is_limited = true};
  CHECK(
      memory_shortage(program, need)->text ==
      "`step` needs 1.0 GiB of memory, and 1.0 GiB are available under `ulimit -v`, of which nine "
      "tenths may be used");
  need.available = kGiB / 2;
  CHECK(memory_shortage(program, need)->text ==
        "`step` needs 1.0 GiB of memory, and 512.0 MiB are available under `ulimit -v`");
}

}  // namespace mtf

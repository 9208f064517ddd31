// The tests that run under mpirun, and ways for a rank to end badly (tests/CMakeLists.txt).
//
//   distributed [--limit N]     all tests; with messages of at most N bytes
//   distributed --thread yes    all tests; asynchronous all-reduces have a thread of their own
//   distributed --end HOW       what rank 1 does while the others wait: abort, throw, exit, return,
//                               disagree (another collective than theirs), late (does not come to
//                               make a group); all: they all fail

#include "tests/distributed/main.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

#include "tests/catch/session.h"
#include "tests/unit/runtime/rank_programs.h"
#include "tests/unit/runtime/rank_values.h"

namespace mtf::test {
namespace {

Communicator* joined = nullptr;

// Rank 1 has a longer tensor than the others.
void disagree(Communicator& communicator) {
  const bool guilty = communicator.local_ranks().front() == 1;
  ProgramSketch sketch(mesh_of({communicator.ranks()}));
  const Shape shape({{"batch", guilty ? 5 : 4}});
  const SpmdId x = sketch.input(shape, {.dims = {{}}, .partial = {0}});
  const SpmdId y = sketch.value(DType::kF32, shape, {.dims = {{}}, .partial = {}}, Home::kOutput);
  sketch.move(StepKind::kAllReduce, x, y, {0});
  Executor executor(communicator, {.check_agreement = true});
  const Executable executable = executor.prepare(sketch.program);
  RankTensor tensor = make_tensor(executor.pool(), communicator, sketch.program.mesh,
                                  sketch.program.at(x).type, replicated(shape));
  std::vector<const RankTensor*> inputs = {&tensor};
  DiagSink diags;
  static_cast<void>(executor.run(executable, inputs, {}, diags));
}

int end_badly(Communicator& communicator, std::string_view how) {
  const bool guilty = communicator.local_ranks().front() == 1;
  if (how == "disagree") {
    disagree(communicator);
  }
  if (guilty && how == "throw") {
    throw std::runtime_error("thrown on rank 1");
  }
  if (guilty && how == "exit") {
    std::exit(0);
  }
  if (guilty && how == "return") {
    return 0;
  }
  if (how == "late") {
    if (guilty) {
      pause();
    }
    static_cast<void>(communicator.group(mesh_of({communicator.ranks()}), {0}));
  }
  if (guilty || how == "all") {
    communicator.close(1, "an error of a program\n");
    return 1;
  }
  communicator.barrier();
  communicator.close(0, "");
  return 0;
}

}  // namespace

Communicator& ranks() {
  return *joined;
}

}  // namespace mtf::test

int main(int argc, char** argv) {
  const std::string_view option = argc > 2 ? argv[1] : "";
  mtf::MpiOptions options;
  if (option == "--limit") {
    const std::string_view text = argv[2];
    std::from_chars(text.data(), text.data() + text.size(), options.message_limit);
    options.scatter_from = options.message_limit;
    options.piece_bytes = 4 * options.message_limit;
  }
  if (option == "--thread") {
    options.own_thread = true;
  }
  mtf::Patience patience;
  if (option == "--end" && std::string_view(argv[2]) == "late") {
    patience = {.limit = std::chrono::seconds(1), .ends_all = true};
  }
  const auto communicator = mtf::mpi_communicator(options, patience);
  mtf::test::joined = communicator.get();
  if (option == "--end") {
    return mtf::test::end_badly(*communicator, argv[2]);
  }
  const int failed = mtf::test::run_tests(1, argv);
  communicator->close(failed == 0 ? 0 : 1, "distributed: tests failed\n");
  return failed == 0 ? 0 : 1;
}

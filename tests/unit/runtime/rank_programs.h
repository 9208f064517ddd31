// Small SPMD programs put together by hand, with operations of their own, run on any communicator.

#pragma once

#include <string>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/execute/executor.h"

namespace mtf::test {

// Grows a program one value and one step at a time.
struct ProgramSketch {
  SpmdProgram program;

  explicit ProgramSketch(Mesh mesh) { program.mesh = std::move(mesh); }

  SpmdId value(DType dtype, const Shape& shape, ValueLayout layout, Home home,
               std::int64_t offset = 0);
  SpmdId input(const Shape& shape, const ValueLayout& layout);
  void move(StepKind kind, SpmdId from, SpmdId to, Axes axes);
  // A call over the union of the dims, split as its operands and result are.
  LocalCall call(const OpDef& op, std::vector<SpmdId> operands, SpmdId result,
                 std::vector<Axes> loops);
  void step(std::vector<LocalCall> calls);
};

[[nodiscard]] const OpDef& add_op();    // tile: a + b
[[nodiscard]] const OpDef& scale_op();  // tile: 2 a
[[nodiscard]] const OpDef& sum_op();    // kernel: the sum over the dims that the result lacks
[[nodiscard]] const OpDef& fail_op();   // effect: fails on the ranks with an element above 100
[[nodiscard]] const OpDef& print_op();  // effect: prints the elements

// y = sum over batch of 2 x + b, split over both axes of the mesh; v <- v + y in place; y returned.
[[nodiscard]] SpmdProgram summing_program(const Mesh& mesh);
struct SummingResult {
  std::vector<std::byte> y;
  std::vector<std::byte> v;
  Totals counted;  // of the first local rank
};
// Runs it `times` times on numbers that do not depend on the mesh.
[[nodiscard]] SummingResult run_summing(Communicator& communicator, const Mesh& mesh, int times);

// A program of one effect on x[batch], split over all ranks: fails where x is above 100.
[[nodiscard]] SpmdProgram failing_program(const Mesh& mesh, std::int64_t batch);

}  // namespace mtf::test

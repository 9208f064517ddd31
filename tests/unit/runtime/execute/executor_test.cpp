// Programs put together by hand, on simulated ranks.

#include "runtime/execute/executor.h"

#include <cstring>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/runtime/rank_programs.h"
#include "tests/unit/runtime/rank_values.h"

namespace mtf::test {
namespace {

SummingResult on_mesh(const std::vector<std::int64_t>& sizes, int times) {
  const Mesh mesh = mesh_of(sizes);
  const auto communicator = simulated_communicator(mesh.ranks());
  return run_summing(*communicator, mesh, times);
}

TEST_CASE("a program gives the same bits on every mesh, and updates its variable each time") {
  const SummingResult one = on_mesh({1, 1}, 3);
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2, 1}, {1, 2}, {2, 2}, {4, 2}, {2, 8}}) {
    const SummingResult many = on_mesh(sizes, 3);
    CHECK(many.y == one.y);
    CHECK(many.v == one.v);
  }
  CHECK(on_mesh({2, 2}, 1).v != one.v);
}

TEST_CASE("what was executed is counted per rank") {
  const Totals counted = on_mesh({4, 2}, 2).counted;
  REQUIRE(counted.collectives.size() == 2);
  const CollectiveTotal& reduce = counted.collectives[0];
  CHECK(reduce.kind == StepKind::kAllReduce);
  CHECK(reduce.axes == Axes{0});
  CHECK(reduce.calls == 1);
  CHECK(reduce.elements == 12);
  CHECK(reduce.received == 18);
  CHECK(reduce.bytes == 72);
  const CollectiveTotal& gathered = counted.collectives[1];
  CHECK(gathered.elements == 12);
  CHECK(gathered.received == 12);
  // add on 4x12, sum of 4x12, add on 24
  CHECK(counted.flops == 4 * 12 + 4 * 12 + 24);
  // x 192, b 48 -> 64, v 96 -> 128, y 96 -> 128, arena: 2048 + 64
  CHECK(counted.peak_bytes == 192 + 64 + 128 + 128 + 2112);
}

struct Failing {
  Mesh mesh = mesh_of({4});
  std::unique_ptr<Communicator> communicator = simulated_communicator(4);
  DiagSink diags;

  bool run(const std::vector<float>& x) {
    const SpmdProgram program = failing_program(mesh, static_cast<std::int64_t>(x.size()));
    Executor executor(*communicator, {});
    const Executable executable = executor.prepare(program);
    const SpmdValue& value = program.at(program.inputs[0]);
    RankTensor tensor = scatter(executor.pool(), *communicator, mesh, value.type, value.layout,
                                std::as_bytes(std::span(x)));
    std::vector<const RankTensor*> inputs = {&tensor};
    return executor.run(executable, inputs, {}, diags).has_value();
  }
};

TEST_CASE("a failure of one rank ends the run with one error that names the rank") {
  Failing failing;
  CHECK(failing.run({1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(failing.diags.ok());
  CHECK_FALSE(failing.run({1, 2, 3, 4, 101, 102, 7, 8}));
  REQUIRE(failing.diags.errors() == 1);
  CHECK(failing.diags.diags()[0].text == "a value is too large");
  REQUIRE(failing.diags.diags()[0].notes.size() == 1);
  CHECK(failing.diags.diags()[0].notes[0].text == "on rank 2 of 4");
}

TEST_CASE("a failure that all ranks share is one error and names none") {
  Failing failing;
  CHECK_FALSE(failing.run({101, 102, 103, 104}));
  REQUIRE(failing.diags.errors() == 1);
  CHECK(failing.diags.diags()[0].notes.empty());
}

TEST_CASE("lines and warnings come from rank 0, a warning once for each place") {
  ProgramSketch sketch(mesh_of({2}));
  const SpmdId x = sketch.input(Shape({{"batch", 2}}), {.dims = {{0}}, .partial = {}});
  sketch.step({sketch.call(print_op(), {x}, {}, {{0}})});
  const auto communicator = simulated_communicator(2);
  std::string lines;
  Executor executor(*communicator,
                    {.print = [&](std::string_view line) { lines += std::string(line) + "\n"; }});
  const Executable executable = executor.prepare(sketch.program);
  const std::vector<float> values = {1.5F, 2.5F};
  const SpmdValue& value = sketch.program.at(x);
  RankTensor tensor = scatter(executor.pool(), *communicator, sketch.program.mesh, value.type,
                              value.layout, std::as_bytes(std::span(values)));
  std::vector<const RankTensor*> inputs = {&tensor};
  DiagSink diags;
  CHECK(executor.run(executable, inputs, {}, diags).has_value());
  CHECK(executor.run(executable, inputs, {}, diags).has_value());
  CHECK(lines == "1.500000\n1.500000\n");
  CHECK(diags.diags().size() == 1);
  CHECK(executor.stream().draws == 1);  // nothing was drawn
}

TEST_CASE("tensors come apart and together again in any layout") {
  std::mt19937 random(9);
  const Mesh mesh = mesh_of({2, 3, 2});
  const auto communicator = simulated_communicator(mesh.ranks());
  BufferPool pool;
  for (int round = 0; round < 50; ++round) {
    const TensorType type{DType::kI32, Shape({{"p", 6}, {"q", 4}, {"r", 12}})};
    const ValueLayout layout = random_layout(random, type.shape, mesh);
    std::vector<int> whole(static_cast<std::size_t>(type.shape.volume()));
    std::iota(whole.begin(), whole.end(), 0);
    const RankTensor tensor =
        scatter(pool, *communicator, mesh, type, layout, std::as_bytes(std::span(whole)));
    const std::vector<std::byte> back = gather(*communicator, mesh, tensor);
    REQUIRE(std::memcmp(back.data(), whole.data(), back.size()) == 0);
  }
}

TEST_CASE("memory of a dropped buffer is used again") {
  BufferPool pool;
  const std::byte* first = pool.take(1000).data();
  const Buffer again = pool.take(1000);
  CHECK(again.data() == first);
  CHECK(pool.live_bytes() == 1000);
  CHECK(reinterpret_cast<std::uintptr_t>(again.data()) % 64 == 0);
}

}  // namespace
}  // namespace mtf::test

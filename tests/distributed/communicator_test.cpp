// MPI against the simulated ranks, bit by bit: each process simulates the whole mesh and compares
// its own rank.

#include <bit>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "tests/distributed/main.h"
#include "tests/unit/runtime/rank_programs.h"
#include "tests/unit/runtime/rank_values.h"

namespace mtf::test {
namespace {

struct Pair {
  Communicator& mpi;
  std::unique_ptr<Communicator> simulated;
  std::size_t me;
  Mesh mesh;

  explicit Pair(Mesh of)
      : mpi(ranks()),
        simulated(simulated_communicator(mpi.ranks())),
        me(static_cast<std::size_t>(mpi.local_ranks().front())),
        mesh(std::move(of)),
        before(mpi.traffic().front()) {}

  // What this rank has sent, over MPI and simulated.
  [[nodiscard]] Traffic sent() const { return mpi.traffic().front() - before; }
  [[nodiscard]] Traffic expected() const { return simulated->traffic()[me]; }

 private:
  Traffic before;
};

// The ranks along one axis, and along two.
std::vector<Mesh> meshes() {
  const std::int64_t all = ranks().ranks();
  std::vector<Mesh> result = {mesh_of({1, all})};
  for (const std::int64_t rows : {2, 3}) {
    if (all % rows == 0 && all > rows && result.size() < 2) {
      result.push_back(mesh_of({rows, all / rows}));
    }
  }
  return result;
}

const std::vector<Axes>& axes_lists() {
  static const std::vector<Axes> lists = {{0}, {1}, {0, 1}, {1, 0}, {}};
  return lists;
}

template <typename T>
void compare_all_reduce(Pair& pair, const Axes& axes, Combination how, std::int64_t count) {
  PerRank<T> expected = numbers_of<T>(pair.simulated->local_ranks(), count);
  PerRank<T> found = {expected[pair.me]};
  pair.simulated->all_reduce(pair.simulated->group(pair.mesh, axes), how, count, ins(expected),
                             outs(expected));
  pair.mpi.all_reduce(pair.mpi.group(pair.mesh, axes), how, count, ins(found), outs(found));
  REQUIRE((found[0] == expected[pair.me]));
}

template <typename T>
void compare_reduce_scatter(Pair& pair, const Axes& axes, Combination how, std::int64_t count) {
  const std::int64_t size = pair.mesh.size_of(axes);
  const PerRank<T> values = numbers_of<T>(pair.simulated->local_ranks(), count * size);
  const PerRank<T> mine = {values[pair.me]};
  PerRank<T> expected(values.size(), std::vector<T>(static_cast<std::size_t>(count)));
  PerRank<T> found = {expected[0]};
  pair.simulated->reduce_scatter(pair.simulated->group(pair.mesh, axes), how, count, ins(values),
                                 outs(expected));
  pair.mpi.reduce_scatter(pair.mpi.group(pair.mesh, axes), how, count, ins(mine), outs(found));
  REQUIRE((found[0] == expected[pair.me]));
}

void compare_moves(Pair& pair, const Axes& axes, std::int64_t count) {
  const std::int64_t size = pair.mesh.size_of(axes);
  const auto whole = static_cast<std::size_t>(count * size);
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(double));
  const PerRank<double> values = numbers_of<double>(pair.simulated->local_ranks(), count * size);
  const PerRank<double> mine = {values[pair.me]};
  PerRank<double> expected(values.size(), std::vector<double>(whole));
  PerRank<double> found = {expected[0]};
  const Group& all = pair.simulated->group(pair.mesh, axes);
  const Group& own = pair.mpi.group(pair.mesh, axes);

  pair.simulated->all_to_all(all, bytes, ins(values), outs(expected));
  pair.mpi.all_to_all(own, bytes, ins(mine), outs(found));
  REQUIRE(found[0] == expected[pair.me]);

  pair.simulated->all_gather(all, bytes, ins(values), outs(expected));
  pair.mpi.all_gather(own, bytes, ins(mine), outs(found));
  REQUIRE(found[0] == expected[pair.me]);

  std::vector<std::int64_t> sources;
  for (std::int64_t i = 0; i < size; ++i) {
    sources.push_back(i == 0 ? 0 : i % (size - 1) + 1);  // the first one keeps its own
  }
  const std::vector<std::vector<std::int64_t>> for_all(values.size(), sources);
  pair.simulated->permute(all, bytes, for_all, ins(values), outs(expected));
  pair.mpi.permute(own, bytes, {&sources, 1}, ins(mine), outs(found));
  REQUIRE(found[0] == expected[pair.me]);
}

// With a holder in each group, and none.
void compare_holders(Pair& pair, const Axes& axes, std::int64_t count) {
  const PerRank<float> values = numbers_of<float>(pair.simulated->local_ranks(), count);
  const PerRank<float> mine = {values[pair.me]};
  const Group& all = pair.simulated->group(pair.mesh, axes);
  const Group& own = pair.mpi.group(pair.mesh, axes);
  for (const std::int64_t holder : {std::int64_t{0}, all.size - 1, std::int64_t{-1}}) {
    const std::vector<std::int64_t> holders(values.size(), holder);
    PerRank<float> expected(values.size(), std::vector<float>(static_cast<std::size_t>(count)));
    PerRank<float> found = {expected[0]};
    pair.simulated->broadcast(all, count * 4, holders, ins(values), outs(expected));
    pair.mpi.broadcast(own, count * 4, {&holder, 1}, ins(mine), outs(found));
    REQUIRE(found[0] == expected[pair.me]);
    pair.simulated->reduce(all, {}, count, holders, ins(values), outs(expected));
    pair.mpi.reduce(own, {}, count, {&holder, 1}, ins(mine), outs(found));
    REQUIRE(found[0] == expected[pair.me]);
  }
}

TEST_CASE("reductions over MPI have the bits of the simulated ones") {
  for (const Mesh& mesh : meshes()) {
    Pair pair(mesh);
    for (const Axes& axes : axes_lists()) {
      for (const std::int64_t count : {0, 1, 7, 500, 9001}) {
        INFO(to_string(mesh) << " over " << to_string(mesh, axes) << ", " << count);
        compare_all_reduce<float>(pair, axes, {}, count);
        compare_all_reduce<double>(pair, axes, {.combine = Combine::kProd, .dtype = DType::kF64},
                                   count);
        compare_all_reduce<std::uint8_t>(pair, axes,
                                         {.combine = Combine::kMax, .dtype = DType::kBool}, count);
        compare_reduce_scatter<float>(pair, axes, {}, count);
        compare_reduce_scatter<std::int64_t>(
            pair, axes, {.combine = Combine::kMin, .dtype = DType::kI64}, count);
      }
    }
  }
}

TEST_CASE("a long all-reduce over MPI has the bits of the simulated one") {
  Pair pair(mesh_of({ranks().ranks()}));
  compare_all_reduce<float>(pair, {0}, {}, 600'011);
}

// Started together, over all axes, finished in another order, with other messages in between.
TEST_CASE("asynchronous all-reduces over MPI have the bits of the simulated ones") {
  const std::vector<std::int64_t> counts = {9001, 7, 600'011, 0, 500};
  for (const Mesh& mesh : meshes()) {
    Pair pair(mesh);
    std::vector<PerRank<float>> expected;
    std::vector<PerRank<float>> found;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const Axes& axes = axes_lists()[i];
      expected.push_back(numbers_of<float>(pair.simulated->local_ranks(), counts[i]));
      found.push_back({expected[i][pair.me]});
      pair.simulated->all_reduce(pair.simulated->group(mesh, axes), {}, counts[i], ins(expected[i]),
                                 outs(expected[i]));
      numbers.push_back(pair.mpi.start(pair.mpi.group(mesh, axes), {}, counts[i], outs(found[i])));
      compare_reduce_scatter<float>(pair, {1}, {}, 77);
      pair.mpi.progress();
    }
    CHECK_FALSE(pair.mpi.any(false));
    for (const std::size_t i : {3, 0, 4, 2, 1}) {
      const FinishedReduce finished = pair.mpi.finish(numbers[i]);
      INFO(to_string(mesh) << ", " << counts[i]);
      CHECK((found[i][0] == expected[i][pair.me]));
      CHECK(finished.moved[0].handed == 4 * counts[i]);
      CHECK(finished.moved[0].sent == finished.moved[0].received);
    }
  }
}

TEST_CASE("blocks move over MPI as they do between simulated ranks") {
  for (const Mesh& mesh : meshes()) {
    Pair pair(mesh);
    for (const Axes& axes : axes_lists()) {
      for (const std::int64_t count : {0, 1, 100, 9001}) {
        INFO(to_string(mesh) << " over " << to_string(mesh, axes) << ", " << count);
        compare_moves(pair, axes, count);
        compare_holders(pair, axes, count);
        compare_reduce_scatter<float>(pair, axes, {}, count);
        CHECK(pair.sent() == pair.expected());
      }
    }
  }
}

// Of all ranks together.
std::int64_t all_received(std::int64_t mine) {
  const std::string text = std::to_string(mine);
  std::int64_t sum = 0;
  for (const std::string& one : ranks().share({&text, 1})) {
    sum += std::stoll(one);
  }
  return sum;
}

TEST_CASE("an all-reduce sends by halves, to all or in a ring's volume, and counts which") {
  const std::int64_t size = ranks().ranks();
  const bool doubles = std::has_single_bit(static_cast<std::uint64_t>(size));
  for (const std::int64_t count : {1, 7, 600'011}) {
    Pair pair(mesh_of({size}));
    compare_all_reduce<float>(pair, {0}, {}, count);
    const std::int64_t bytes = 4 * count;
    const std::int64_t ring = 2 * (size - 1) * bytes;  // of all ranks together
    INFO(count << " floats on " << size << " ranks");
    CHECK(pair.sent().handed == bytes);
    CHECK(pair.sent().sent == pair.sent().received);
    CHECK(all_received(pair.expected().received) == ring);
    if (count > 7) {
      CHECK(all_received(pair.sent().received) == ring);
      CHECK(std::abs(size * pair.sent().received - ring) <= 4 * size * size * (2 + bytes / 1000));
    } else if (doubles) {
      CHECK(pair.sent().received == std::countr_zero(static_cast<std::uint64_t>(size)) * bytes);
    } else {
      CHECK(pair.sent().received == (size - 1) * bytes);
    }
  }
}

TEST_CASE("texts and flags of all ranks reach all ranks") {
  Communicator& mpi = ranks();
  const std::int64_t me = mpi.local_ranks().front();
  const std::string mine(static_cast<std::size_t>(me), 'x');
  const std::vector<std::string> all = mpi.share({&mine, 1});
  REQUIRE(static_cast<std::int64_t>(all.size()) == mpi.ranks());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i] == std::string(i, 'x'));
  }
  CHECK(mpi.any(me == mpi.ranks() - 1));
  CHECK_FALSE(mpi.any(false));
}

TEST_CASE("a program over MPI has the bits of one rank") {
  const auto alone = simulated_communicator(1);
  const SummingResult expected = run_summing(*alone, mesh_of({1, 1}), 3);
  for (const Mesh& mesh : meshes()) {
    if (16 % mesh.axes[0].size == 0 && 24 % mesh.axes[1].size == 0) {
      INFO(to_string(mesh));
      const SummingResult found = run_summing(ranks(), mesh, 3);
      CHECK((found.y == expected.y));
      CHECK((found.v == expected.v));
    }
  }
}

TEST_CASE("a failure of the last rank reaches all of them") {
  const Mesh mesh = mesh_of({ranks().ranks()});
  std::vector<float> x(static_cast<std::size_t>(ranks().ranks()));
  x.back() = 101;
  const SpmdProgram program = failing_program(mesh, ranks().ranks());
  Executor executor(ranks(), {});
  const Executable executable = executor.prepare(program);
  const SpmdValue& value = program.at(program.inputs[0]);
  RankTensor tensor = scatter(executor.pool(), ranks(), mesh, value.type, value.layout,
                              std::as_bytes(std::span(x)));
  std::vector<const RankTensor*> inputs = {&tensor};
  DiagSink diags;
  CHECK_FALSE(executor.run(executable, inputs, {}, diags).has_value());
  REQUIRE(diags.errors() == 1);
  CHECK(diags.diags()[0].text == "a value is too large");
}

}  // namespace
}  // namespace mtf::test

// Simulated ranks against the definitions of the collectives.

#include "runtime/ranks/communicator.h"

#include <memory>
#include <pthread.h>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/runtime/rank_values.h"

namespace mtf::test {
namespace {

TEST_CASE("an all-reduce adds in the tree of the group's order, whatever its size") {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16}) {
    const auto communicator = simulated_communicator(size);
    const Group& group = communicator->group(mesh_of({size}), {0});
    const std::int64_t count = 1500;
    PerRank<float> values = numbers_of<float>(communicator->local_ranks(), count);
    const PerRank<float> before = values;
    communicator->all_reduce(group, {}, count, ins(values), outs(values));
    std::vector<float> expected;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      std::vector<float> leaves;
      for (const std::vector<float>& one : before) {
        leaves.push_back(one[i]);
      }
      expected.push_back(tree_sum<float>(leaves));
    }
    for (const std::vector<float>& one : values) {
      CHECK((one == expected));
    }
  }
}

TEST_CASE("ranks add up many messages on the stack of a thread that has little of it") {
  struct Sums {
    std::vector<std::vector<double>> parts = {40, std::vector<double>(3000, 1.5)};
    std::vector<double> sum = std::vector<double>(3000);
  } sums;
  const auto add_up = [](void* given) -> void* {
    auto& [parts, sum] = *static_cast<Sums*>(given);
    std::vector<const void*> in;
    for (const std::vector<double>& part : parts) {
      in.push_back(part.data());
    }
    combine_parts({.dtype = DType::kF64}, in, std::ssize(sum), sum.data());
    return nullptr;
  };
  pthread_attr_t little;
  REQUIRE(pthread_attr_init(&little) == 0);
  REQUIRE(pthread_attr_setstacksize(&little, std::size_t{64} << 10) == 0);
  pthread_t thread{};
  REQUIRE(pthread_create(&thread, &little, add_up, &sums) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&little);
  CHECK(sums.sum == std::vector<double>(3000, 60));
}

TEST_CASE("a group over several axes is ordered by them, major first") {
  const auto communicator = simulated_communicator(8);
  const Mesh mesh = mesh_of({2, 2, 2});
  const Group& group = communicator->group(mesh, {2, 0});
  CHECK(group.size == 4);
  CHECK(group.members[3] == std::vector<std::int64_t>{2, 6, 3, 7});
  CHECK(group.index[3] == 2);
  CHECK(&group == &communicator->group(mesh, {2, 0}));
}

TEST_CASE("a reduce-scatter is an all-reduce of which each member keeps its part") {
  const auto communicator = simulated_communicator(6);
  const Group& group = communicator->group(mesh_of({2, 3}), {1});
  PerRank<double> values = numbers_of<double>(communicator->local_ranks(), 30);
  PerRank<double> parts(6, std::vector<double>(10));
  const Combination how{.combine = Combine::kMax, .dtype = DType::kF64};
  communicator->reduce_scatter(group, how, 10, ins(values), outs(parts));
  PerRank<double> whole = values;
  communicator->all_reduce(group, how, 30, ins(values), outs(whole));
  for (std::size_t rank = 0; rank < 6; ++rank) {
    const auto begin = whole[rank].begin() + 10 * group.index[rank];
    CHECK(parts[rank] == std::vector<double>(begin, begin + 10));
  }
}

TEST_CASE("blocks change hands as their names say") {
  const auto communicator = simulated_communicator(4);
  const Group& group = communicator->group(mesh_of({2, 2}), {0, 1});
  const PerRank<int> values = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}, {30, 31, 32, 33}};
  PerRank<int> turned(4, std::vector<int>(4));
  communicator->all_to_all(group, sizeof(int), ins(values), outs(turned));
  CHECK(turned[2] == std::vector<int>{2, 12, 22, 32});

  PerRank<int> gathered(4, std::vector<int>(4));
  communicator->all_gather(group, sizeof(int), ins(values), outs(gathered));
  CHECK(gathered[1] == std::vector<int>{0, 10, 20, 30});

  const std::vector<std::vector<std::int64_t>> sources(4, {3, 0, 1, 2});
  communicator->permute(group, 4 * sizeof(int), sources, ins(values), outs(turned));
  CHECK(turned[0] == values[3]);
  CHECK(turned[3] == values[2]);
}

}  // namespace
}  // namespace mtf::test

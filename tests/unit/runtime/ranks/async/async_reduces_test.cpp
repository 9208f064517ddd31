// Asynchronous all-reduces go on round by round, over wires that deliver when they like: the bits
// of the tree, whoever is how far and however many are in flight.

#include "runtime/ranks/async/async_reduces.h"

#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>

#include <catch2/catch.hpp>

#include "runtime/ranks/async/reduce_rounds.h"
#include "tests/unit/runtime/rank_values.h"

namespace mtf::test {
namespace {

// Messages on their way: by what they belong to, and from whom to whom.
class Post {
 public:
  using Lane = std::tuple<std::string, std::int64_t, std::int64_t>;

  void put(const Lane& lane, const void* data, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto* begin = static_cast<const std::byte*>(data);
    lanes_[lane].emplace_back(begin, begin + bytes);
  }
  // Whether there was one, of this length.
  bool take(const Lane& lane, void* data, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    std::deque<std::vector<std::byte>>& waiting = lanes_[lane];
    if (waiting.empty()) {
      return false;
    }
    right_lengths_ = right_lengths_ && static_cast<std::int64_t>(waiting.front().size()) == bytes;
    std::ranges::copy(waiting.front(), static_cast<std::byte*>(data));
    waiting.pop_front();
    return true;
  }
  [[nodiscard]] bool has_right_lengths() const { return right_lengths_; }

 private:
  std::mutex mutex_;
  std::map<Lane, std::deque<std::vector<std::byte>>> lanes_;
  bool right_lengths_ = true;
};

// Of one rank and one all-reduce. A message is there the second time that it is asked for, or
// later.
class LateWire final : public Wire {
 public:
  LateWire(Post& post, std::string what, std::vector<std::int64_t> members, std::int64_t me,
           std::uint32_t seed)
      : post_(post), what_(std::move(what)), members_(std::move(members)), me_(me), random_(seed) {}

  void receive(std::int64_t member, void* data, std::int64_t bytes) override {
    awaited_.push_back(
        {.from = members_[static_cast<std::size_t>(member)], .data = data, .bytes = bytes});
    moved_.received += bytes;
  }
  void send(std::int64_t member, const void* data, std::int64_t bytes) override {
    post_.put({what_, me_, members_[static_cast<std::size_t>(member)]}, data, bytes);
    moved_.sent += bytes;
  }
  [[nodiscard]] bool is_done() override {
    if (!awaited_.empty() && random_() % 3 == 0) {
      const Awaited& next = awaited_.front();
      if (post_.take({what_, next.from, me_}, next.data, next.bytes)) {
        awaited_.pop_front();
      }
    }
    return awaited_.empty();
  }
  [[nodiscard]] Traffic moved() const override { return moved_; }

 private:
  struct Awaited {
    std::int64_t from = 0;
    void* data = nullptr;
    std::int64_t bytes = 0;
  };

  Post& post_;
  std::string what_;
  std::vector<std::int64_t> members_;
  std::int64_t me_;
  std::mt19937 random_;
  std::deque<Awaited> awaited_;
  Traffic moved_;
};

Group on_rank(const Group& group, std::size_t rank) {
  return {.size = group.size, .members = {group.members[rank]}, .index = {group.index[rank]}};
}

constexpr MpiOptions kSmall = {.scatter_from = 400, .piece_bytes = 172};

// All ranks of a line take turns at having theirs go on.
template <typename T>
void compare_with_tree(std::int64_t ranks, Combination how, std::int64_t count, bool in_place) {
  const auto all = simulated_communicator(ranks);
  const Group& group = all->group(mesh_of({ranks}), {0});
  const PerRank<T> terms = numbers_of<T>(all->local_ranks(), count);
  PerRank<T> expected = terms;
  all->all_reduce(group, how, count, ins(terms), outs(expected));

  Post post;
  PerRank<T> found = terms;
  std::vector<Group> groups;
  std::deque<LateWire> wires;
  std::vector<ReduceRounds> rounds;
  std::vector<std::vector<std::byte>> scratch;
  for (std::size_t r = 0; r < terms.size(); ++r) {
    groups.push_back(on_rank(group, r));
    wires.emplace_back(post, "all", group.members[r], static_cast<std::int64_t>(r), 7 * r + 1);
  }
  for (std::size_t r = 0; r < terms.size(); ++r) {
    rounds.emplace_back(groups[r], how, count, in_place ? found[r].data() : terms[r].data(),
                        found[r].data(), kSmall);
    scratch.emplace_back(static_cast<std::size_t>(rounds.back().scratch_bytes()));
  }
  std::mt19937 random(static_cast<std::uint32_t>(count));
  std::vector<char> done(terms.size(), 0);
  while (std::ranges::count(done, 0) > 0) {
    const std::size_t r = random() % terms.size();
    if (done[r] == 0 && wires[r].is_done()) {
      done[r] = rounds[r].next(wires[r], scratch[r].data()) ? 0 : 1;
    }
  }
  INFO(count << " on " << ranks << " ranks, " << (in_place ? "in place" : "elsewhere"));
  CHECK((found == expected));
  CHECK(post.has_right_lengths());
}

TEST_CASE("rounds of an all-reduce add in the tree, on any number of ranks, of any length") {
  for (std::int64_t ranks = 1; ranks <= 8; ++ranks) {
    for (const std::int64_t count : {0, 1, 7, 11, 12, 13, 99, 100, 101, 258, 1000, 1001}) {
      compare_with_tree<float>(ranks, {}, count, true);
      compare_with_tree<float>(ranks, {}, count, false);
    }
    compare_with_tree<double>(ranks, {.combine = Combine::kProd, .dtype = DType::kF64}, 61, true);
    compare_with_tree<std::int64_t>(ranks, {.combine = Combine::kMax, .dtype = DType::kI64}, 90,
                                    true);
  }
}

// A shorter last piece may give a member one element more than the first piece does.
TEST_CASE("received terms never take more than the scratch memory") {
  for (const std::int64_t ranks : {3, 5, 6, 7}) {
    for (std::int64_t count = 50; count < 140; ++count) {
      compare_with_tree<float>(ranks, {}, count, true);
    }
  }
}

struct Sum {
  Axes axes;
  std::int64_t count = 0;
  MpiOptions options = kSmall;
};

// Each rank a thread, which starts all sums, has them go on at times and finishes them in some
// order.
class Fleet {
 public:
  Fleet(const Mesh& mesh, const std::vector<Sum>& sums)
      : all_(simulated_communicator(mesh.ranks())), sums_(sums) {
    for (const Sum& sum : sums) {
      groups_.push_back(&all_->group(mesh, sum.axes));
      expected_.push_back(numbers_of<float>(all_->local_ranks(), sum.count));
      found_.push_back(expected_.back());
      all_->all_reduce(*groups_.back(), {}, sum.count, ins(expected_.back()),
                       outs(expected_.back()));
      moved_.emplace_back(all_->local_ranks().size());
    }
  }

  void run(const std::vector<std::size_t>& order, bool own_thread) {
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < all_->local_ranks().size(); ++rank) {
      threads.emplace_back([&, rank] { run_on(rank, order, own_thread); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

  void check() const {
    for (std::size_t s = 0; s < sums_.size(); ++s) {
      for (std::size_t rank = 0; rank < all_->local_ranks().size(); ++rank) {
        INFO("sum " << s << " on rank " << rank);
        CHECK(moved_[s][rank].sent >= sums_[s].count);
        CHECK(moved_[s][rank].received >= sums_[s].count);
        CHECK((found_[s][rank] == expected_[s][rank]));
      }
    }
    CHECK(post_.has_right_lengths());
  }

 private:
  void run_on(std::size_t rank, const std::vector<std::size_t>& order, bool own_thread) {
    std::deque<Group> groups;
    AsyncReduces async(own_thread);
    std::vector<std::size_t> numbers(sums_.size());
    for (std::size_t s = 0; s < sums_.size(); ++s) {
      const auto lock = async.hold();
      const Group& group = groups.emplace_back(on_rank(*groups_[s], rank));
      float* data = found_[s][rank].data();
      numbers[s] =
          async.start(ReduceRounds(group, {}, sums_[s].count, data, data, sums_[s].options),
                      std::make_unique<LateWire>(post_, std::to_string(s), group.members[0],
                                                 static_cast<std::int64_t>(rank), 31 * rank + s));
      async.progress();
    }
    for (const std::size_t s : order) {
      const auto lock = async.hold();
      while (!async.is_done(numbers[s])) {
        async.progress();
      }
      moved_[s][rank] = async.finish(numbers[s]).moved[0];
    }
  }

  std::unique_ptr<Communicator> all_;
  std::vector<Sum> sums_;
  std::vector<const Group*> groups_;
  std::vector<PerRank<float>> expected_;  // per sum
  std::vector<PerRank<float>> found_;
  std::vector<std::vector<Traffic>> moved_;
  Post post_;
};

void reduce_all(const Mesh& mesh, const std::vector<Sum>& sums,
                const std::vector<std::size_t>& order, bool own_thread) {
  Fleet fleet(mesh, sums);
  fleet.run(order, own_thread);
  fleet.check();
}

TEST_CASE("several all-reduces over several axes are in flight at once") {
  const std::vector<Sum> sums = {{{0}, 300}, {{1}, 5}, {{0, 1}, 777}, {{1}, 300}, {{0}, 1}};
  for (const bool own_thread : {false, true}) {
    reduce_all(mesh_of({2, 2}), sums, {0, 1, 2, 3, 4}, own_thread);
    reduce_all(mesh_of({2, 2}), sums, {4, 2, 0, 3, 1}, own_thread);
    reduce_all(mesh_of({3, 2}), sums, {1, 0, 4, 3, 2}, own_thread);
  }
}

TEST_CASE("what would take too much memory at once goes one behind the other") {
  constexpr MpiOptions kWhole = {.scatter_from = std::int64_t{1} << 30};
  const std::vector<Sum> sums(5, Sum{.axes = {0}, .count = 300'000, .options = kWhole});
  reduce_all(mesh_of({2}), sums, {4, 3, 2, 1, 0}, false);
  reduce_all(mesh_of({2}), sums, {0, 1, 2, 3, 4}, true);
}

}  // namespace
}  // namespace mtf::test

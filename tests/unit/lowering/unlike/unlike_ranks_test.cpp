// Which rank has most is found axis by axis: it has to be what a look at every rank finds.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/reshard/halo.h"
#include "lowering/rounds/scan_rounds.h"
#include "lowering/rounds/sort_rounds.h"
#include "lowering/unlike/axis_order.h"
#include "lowering/unlike/lacking.h"
#include "tests/unit/lowering/random_layouts.h"

namespace mtf::tests {
namespace {

constexpr std::size_t kAnyNumber = 1 << 20;

Mesh drawn_mesh(Random& random, std::size_t most_axes) {
  Mesh mesh{.name = "m", .uneven = true};
  const std::size_t axes = 1 + random.below(most_axes);
  for (std::size_t a = 0; a < axes; ++a) {
    const auto size = static_cast<std::int64_t>(1 + random.below(a == 0 ? 9 : 4));
    mesh.axes.push_back({.name = std::string(1, static_cast<char>('a' + a)), .size = size});
  }
  return mesh;
}

// Any size, so that blocks are cut short, or empty.
Shape drawn_shape(Random& random) {
  std::vector<Dim> dims;
  const std::size_t rank = random.below(4);
  for (std::size_t d = 0; d < rank; ++d) {
    dims.push_back(
        {.name = std::string(1, static_cast<char>('p' + d)),
         .size = static_cast<std::int64_t>(random.below(random.below(3) == 0 ? 70 : 9))});
  }
  return Shape(std::move(dims));
}

// In any order, over any of the axes. What is left of them may have conditions.
ValueLayout drawn_layout(Random& random, const Shape& shape, const Mesh& mesh) {
  ValueLayout layout = replicated(shape);
  for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
    const std::size_t d = random.below(shape.rank() + 1);
    if (d < shape.rank()) {
      Axes& axes = layout.dims[d];
      axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(random.below(axes.size() + 1)),
                  static_cast<AxisId>(a));
    } else if (random.below(6) == 0) {
      Condition condition{.axis = static_cast<AxisId>(a)};
      condition.at =
          static_cast<std::int64_t>(random.below(static_cast<std::size_t>(mesh.axes[a].size)));
      const auto other = static_cast<AxisId>(random.below(mesh.axes.size()));
      if (random.below(2) == 0 && mesh.axes[other].size == mesh.axes[a].size) {
        condition = {.axis = condition.axis, .same = other};
      }
      layout.where.push_back(condition);
    }
  }
  return layout;
}

// A layout that shares with another one what its dims begin with, or that differs in all.
ValueLayout drawn_beside(Random& random, const ValueLayout& from, const Shape& shape,
                         const Mesh& mesh) {
  ValueLayout to = drawn_layout(random, shape, mesh);
  if (random.below(3) == 0 || shape.rank() == 0) {
    return to;
  }
  to = from;
  Axes moved;
  for (Axes& axes : to.dims) {
    for (std::size_t lost = random.below(axes.size() + 1); lost > 0; --lost) {
      moved.push_back(axes.back());
      axes.pop_back();
    }
  }
  for (const AxisId axis : moved) {
    to.dims[random.below(shape.rank())].push_back(axis);
  }
  return to;
}

// By a look at each rank.
template <typename Amount>
RankSum::Most most_of_all(const Mesh& mesh, const Amount& amount) {
  RankSum::Most most{.amount = amount(0), .rank = 0};
  for (std::int64_t rank = 1; rank < mesh.ranks(); ++rank) {
    if (const std::int64_t here = amount(rank); here > most.amount) {
      most = {.amount = here, .rank = rank};
    }
  }
  return most;
}

template <typename Amount>
void check_sum(const RankSum& sum, const Mesh& mesh, const Amount& amount) {
  const RankSum::Most wanted = most_of_all(mesh, amount);
  const std::optional<RankSum::Most> most = sum.most(kAnyNumber);
  REQUIRE(most);
  CHECK(most->amount == wanted.amount);
  CHECK(most->rank == wanted.rank);
  for (std::int64_t rank = 0; rank < mesh.ranks(); rank += 7) {
    CHECK(sum.at(mesh.place_of(rank)) == amount(rank));
  }
}

IndexMap drawn_map(Random& random) {
  constexpr std::array kBorders = {Border::kValue, Border::kEdge, Border::kWrap, Border::kReflect};
  IndexMap map;
  map.stride = random.below(4) == 0 ? -1 : static_cast<std::int64_t>(1 + random.below(2));
  map.offset = static_cast<std::int64_t>(random.below(9)) - 4;
  map.border = kBorders[random.below(kBorders.size())];
  map.gap = map.border == Border::kValue ? static_cast<std::int64_t>(1 + random.below(2)) : 1;
  return map;
}

struct Drawn {
  Shape shape;
  ValueLayout from;
  ValueLayout to;

  [[nodiscard]] std::int64_t lacking(const Mesh& mesh, std::int64_t rank) const {
    const Slice wanted = slice_of(shape, to, mesh, rank);
    const Slice has = slice_of(shape, from, mesh, rank);
    return volume_of(wanted) - volume_of(intersection(wanted, has));
  }
};

}  // namespace

TEST_CASE("most of what ranks lack between drawn uneven layouts is what a look at each finds") {
  Random random(1);
  for (int i = 0; i < 4000; ++i) {
    const Mesh mesh = drawn_mesh(random, 4);
    Drawn drawn{.shape = drawn_shape(random), .from = {}, .to = {}};
    drawn.from = drawn_layout(random, drawn.shape, mesh);
    drawn.to = drawn_beside(random, drawn.from, drawn.shape, mesh);
    RankSum sum(mesh);
    add_lacking(sum, 1, {.mesh = mesh, .shape = drawn.shape, .layout = drawn.from},
                {.mesh = mesh, .shape = drawn.shape, .layout = drawn.to});
    CAPTURE(to_string(mesh), to_string(drawn.shape), to_string(drawn.shape, drawn.from, mesh),
            to_string(drawn.shape, drawn.to, mesh));
    check_sum(sum, mesh, [&](std::int64_t rank) { return drawn.lacking(mesh, rank); });
  }
}

TEST_CASE("of several unlike steps, the first rank that receives most in all of them is found") {
  Random random(2);
  for (int i = 0; i < 1500; ++i) {
    const Mesh mesh = drawn_mesh(random, 5);
    std::vector<Drawn> steps(1 + random.below(4));
    RankSum sum(mesh);
    std::vector<std::int64_t> scales;
    for (Drawn& step : steps) {
      step.shape = drawn_shape(random);
      step.from = drawn_layout(random, step.shape, mesh);
      step.to = drawn_beside(random, step.from, step.shape, mesh);
      scales.push_back(static_cast<std::int64_t>(1 + random.below(5)));
      add_lacking(sum, scales.back(), {.mesh = mesh, .shape = step.shape, .layout = step.from},
                  {.mesh = mesh, .shape = step.shape, .layout = step.to});
    }
    check_sum(sum, mesh, [&](std::int64_t rank) {
      std::int64_t all = 0;
      for (std::size_t s = 0; s < steps.size(); ++s) {
        all += scales[s] * steps[s].lacking(mesh, rank);
      }
      return all;
    });
  }
}

TEST_CASE("counts of any kind, along an axis or several, are told apart where they differ") {
  Random random(3);
  for (int i = 0; i < 1500; ++i) {
    const Mesh mesh = drawn_mesh(random, 4);
    const Shape shape({{"p", static_cast<std::int64_t>(random.below(40))}});
    const ValueLayout layout = drawn_layout(random, shape, mesh);
    RankSum sum(mesh);
    Axes axes;
    for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
      if (random.below(2) == 0) {
        axes.push_back(static_cast<AxisId>(a));
      }
    }
    const auto divisor = static_cast<std::int64_t>(2 + random.below(5));
    const auto count = [&](const Coordinates& at) {
      return mesh.index_along(at, axes) * 5 % divisor;
    };
    Factors product = volume_in(sum, {.mesh = mesh, .shape = shape, .layout = layout});
    product.push_back(sum.count(axes, count));
    sum.add(3, product);
    sum.add(-1, {product.back(), product.back()});
    check_sum(sum, mesh, [&](std::int64_t rank) {
      const std::int64_t here = count(mesh.place_of(rank));
      return 3 * volume_of(slice_of(shape, layout, mesh, rank)) * here - here * here;
    });
  }
}

TEST_CASE("the rank that lacks most of a drawn halo receives as much as a look at each says") {
  Random random(4);
  for (int i = 0; i < 3000; ++i) {
    const Mesh mesh = drawn_mesh(random, 3);
    const Shape operand = drawn_shape(random);
    std::vector<Dim> dims;
    std::vector<MovedDim> reads;
    for (std::size_t d = 0; d < operand.rank(); ++d) {
      MovedDim read{.dim = d};
      if (random.below(5) > 0) {
        const bool is_plain = random.below(2) == 0;
        read.map = is_plain ? IndexMap{} : drawn_map(random);
        read.to = dims.size();
        dims.push_back(operand[d]);
        dims.back().size += is_plain ? 0 : static_cast<std::int64_t>(random.below(4));
      }
      reads.push_back(read);
    }
    const Shape result(dims);
    ValueLayout from = drawn_layout(random, operand, mesh);
    from.where.clear();
    ValueLayout to = drawn_layout(random, result, mesh);
    if (dims.empty()) {
      to.where.clear();
    }
    const Halo halo{
        .mesh = mesh, .reads = reads, .operand = operand, .from = from, .result = result, .to = to};
    RankSum sum(mesh);
    add_received(sum, 1, halo);
    const auto received = [&](std::int64_t rank) {
      const Slice has = slice_of(operand, from, mesh, rank);
      const Slice wanted = slice_of(result, to, mesh, rank);
      std::int64_t read = 1;
      std::int64_t own = 1;
      for (std::size_t d = 0; d < reads.size(); ++d) {
        const std::vector<IndexRun> runs =
            runs_of(reads[d].map, operand[d].size, reads[d].wanted_by(wanted));
        read *= count_of(runs);
        own *= count_of(runs_within(runs, has.along(d)));
      }
      return read - own;
    };
    check_sum(sum, mesh, received);
    if (to.where.empty()) {
      CHECK(most_halo_received(halo) == most_of_all(mesh, received).amount);
    }
  }
}

TEST_CASE("places along huge axes, and along many, are not gone through one by one") {
  const Mesh huge{.name = "m",
                  .axes = {{.name = "a", .size = 100'000}, {.name = "b", .size = 999'999'937}},
                  .uneven = true};
  const Shape shape({{"p", 1'000'003}, {"q", 70'000'000'000'000}});
  ValueLayout from = replicated(shape);
  ValueLayout to = from;
  from.dims[1] = {1, 0};
  to.dims[0] = {0};
  to.dims[1] = {1};
  RankSum sum(huge);
  add_lacking(sum, 1, {.mesh = huge, .shape = shape, .layout = from},
              {.mesh = huge, .shape = shape, .layout = to});
  const std::optional<RankSum::Most> most = sum.most(16);
  REQUIRE(most);
  CHECK(most->amount == sum.at(huge.place_of(most->rank)));
  CHECK(most->amount == std::int64_t{11} * 70'001);  // where nothing of it was before

  Mesh many{.name = "m", .uneven = true};
  ValueLayout one = replicated(shape);
  ValueLayout other = one;
  for (std::size_t a = 0; a < kMaxAxes; ++a) {
    many.axes.push_back({.name = std::string(1, static_cast<char>('a' + a)), .size = 7});
    one.dims[1].push_back(static_cast<AxisId>(a));
    other.dims[0].push_back(static_cast<AxisId>(kMaxAxes - 1 - a));
  }
  RankSum turned(many);
  add_lacking(turned, 1, {.mesh = many, .shape = shape, .layout = one},
              {.mesh = many, .shape = shape, .layout = other});
  const std::optional<RankSum::Most> of_many = turned.most(4096);
  REQUIRE(of_many);
  CHECK(of_many->amount == turned.at(many.place_of(of_many->rank)));
}

TEST_CASE("messages of a scan and of a sort are counted as their rounds say") {
  for (std::int64_t ranks = 1; ranks < 150; ++ranks) {
    std::int64_t most_sorting = 0;
    std::int64_t most_scanning = 0;
    for (std::int64_t place = 0; place < ranks; ++place) {
      const auto sorting =
          std::ranges::count_if(sort_rounds(ranks, place),
                                [](const SortRound& round) { return round.partner.has_value(); });
      const auto scanning =
          std::ranges::count(scan_rounds(ranks, place), true, &ScanRound::receives);
      CHECK(sort_messages(ranks, place) == sorting);
      CHECK(scan_messages(ranks, place) == scanning);
      most_sorting = std::max<std::int64_t>(most_sorting, sorting);
      most_scanning = std::max<std::int64_t>(most_scanning, scanning);
    }
    CHECK(most_sort_messages(ranks) == most_sorting);
    CHECK(most_scan_messages(ranks) == most_scanning);
  }
}

TEST_CASE("the longest of blocks that overlap is found among those that reach furthest") {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const Mesh mesh = drawn_mesh(random, 3);
    const Shape shape({{"p", static_cast<std::int64_t>(1 + random.below(60))}});
    ValueLayout layout = drawn_layout(random, shape, mesh);
    layout.where.clear();
    layout.reach.push_back({.dim = 0,
                            .size = static_cast<std::int64_t>(1 + random.below(60)),
                            .stride = static_cast<std::int64_t>(1 + random.below(3)),
                            .offset = static_cast<std::int64_t>(random.below(9)) - 4,
                            .length = static_cast<std::int64_t>(1 + random.below(6)),
                            .up = static_cast<std::int64_t>(1 + random.below(3)),
                            .tile = static_cast<std::int64_t>(1 + random.below(5))});
    const RankSum::Most longest = most_of_all(mesh, [&](std::int64_t rank) {
      return slice_of(shape, layout, mesh, rank).extent.front();
    });
    CHECK(local_shape(shape, layout, mesh)[0].size == longest.amount);
  }
}

TEST_CASE("axes go in the order of the lists where these agree") {
  const std::vector<Axes> lists = {{3, 0}, {2, 3}, {0, 1}};
  CHECK(order_of_axes(lists) == Axes{2, 3, 0, 1});
  const std::vector<Axes> against = {{0, 1}, {1, 0}};
  CHECK(order_of_axes(against).size() == 2);
}

}  // namespace mtf::tests

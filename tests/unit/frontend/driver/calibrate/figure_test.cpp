// What `mtf calibrate` makes of measurements on a machine that is busy now and then: the source of
// the measurements is a list here.

#include "frontend/driver/calibrate/figure.h"

#include <catch2/catch.hpp>

namespace mtf {
namespace {

Figure figure_of(const std::vector<double>& measured, std::size_t& taken) {
  taken = 0;
  return agreed_figure([&] { return measured[std::min(taken++, measured.size() - 1)]; }, 8);
}

Hardware hardware_with(double all_reduce) {
  Hardware hardware;
  for (const auto& [kind, seconds] :
       std::vector<std::pair<std::string, double>>{{"all_reduce", all_reduce},
                                                   {"reduce_scatter", 5e-6},
                                                   {"all_gather", 4e-6},
                                                   {"all_to_all", 4e-6},
                                                   {"permute", 2e-6}}) {
    hardware.collectives.push_back(
        {.kind = kind, .ranks = 4, .seconds = {{64, seconds}, {65536, 40 * seconds}}});
  }
  return hardware;
}

}  // namespace

TEST_CASE("two measurements that agree are enough") {
  std::size_t taken = 0;
  const Figure figure = figure_of({1.0, 1.1}, taken);
  CHECK(figure.value == 1.0);
  CHECK(figure.is_trusted);
  CHECK(taken == 2);
}

TEST_CASE("what disturbs some measurements does not reach the figure") {
  std::size_t taken = 0;
  const Figure figure = figure_of({12.0, 30.0, 1.0, 7.0, 1.05}, taken);
  CHECK(figure.value == 1.0);
  CHECK(figure.is_trusted);
  CHECK(taken == 5);
}

TEST_CASE("a figure on which no two measurements agree is not trusted, and takes bounded time") {
  std::size_t taken = 0;
  const Figure figure = figure_of({128, 64, 32, 16, 8, 4, 2, 1, 0.5, 0.25}, taken);
  CHECK_FALSE(figure.is_trusted);
  CHECK(taken == 8);
}

TEST_CASE("an all-reduce of 12 ms among collectives of microseconds is not believed") {
  CHECK(implausible_collectives(hardware_with(4.5e-6)).empty());
  CHECK(implausible_collectives(hardware_with(12e-3)) ==
        std::vector<std::string>{"all_reduce of 4"});
}

TEST_CASE("more bytes do not take a third of the time") {
  Hardware hardware = hardware_with(4.5e-6);
  hardware.collectives[2].seconds = {{64, 4e-6}, {4096, 90e-6}, {65536, 20e-6}};
  CHECK(implausible_collectives(hardware) == std::vector<std::string>{"all_gather of 4"});
}

}  // namespace mtf

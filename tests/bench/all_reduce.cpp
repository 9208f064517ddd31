// Our all-reduce, which adds in the canonical tree, against MPI's, which adds as it likes: sums of
// floats from 1 KiB to 64 MiB on the ranks of this run. Times are taken in turn; a ratio below 1
// says that ours is faster.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include <mpi.h>

#include "runtime/ranks/communicator.h"

namespace {

// Median microseconds of each, on the slowest rank.
std::array<double, 2> medians(const std::array<std::function<void()>, 2>& runs, int inner) {
  constexpr double kBudget = 2e6;
  std::array<std::vector<double>, 2> times;
  double total = 0;  // the same on all ranks
  for (int repeat = 0; repeat < 15 && total < kBudget; ++repeat) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      for (int k = 0; k < inner; ++k) {
        runs[i]();
      }
      double time = (MPI_Wtime() - start) / inner * 1e6;
      MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      times[i].push_back(time);
      total += time * inner;
    }
  }
  std::array<double, 2> result{};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto middle = times[i].begin() + static_cast<std::ptrdiff_t>(times[i].size() / 2);
    std::ranges::nth_element(times[i], middle);
    result[i] = *middle;
  }
  return result;
}

double report(mtf::Communicator& ranks, const mtf::Group& group, std::int64_t bytes) {
  const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(float));
  const std::vector<float> in(static_cast<std::size_t>(count), 0.5F);
  std::vector<float> out(in.size());
  const std::array<const void*, 1> ins = {in.data()};
  const std::array<void*, 1> outs = {out.data()};
  const std::array<double, 2> times =
      medians({[&] { ranks.all_reduce(group, {}, count, ins, outs); },
               [&] {
                 MPI_Allreduce(in.data(), out.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                               MPI_COMM_WORLD);
               }},
              static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 22) / bytes, 1, 200)));
  if (ranks.has_first_rank()) {
    std::printf("%2ld ranks %8ld KiB  ours %10.1f us  MPI %10.1f us  ratio %5.2f\n", ranks.ranks(),
                bytes / 1024, times[0], times[1], times[0] / times[1]);
  }
  return times[0] / times[1];
}

}  // namespace

int main() {
  const std::unique_ptr<mtf::Communicator> ranks = mtf::mpi_communicator();
  const mtf::Mesh mesh = {
      .name = "all", .axes = {{.name = "r", .size = ranks->ranks()}}, .profile = "", .span = {}};
  const mtf::Group& group = ranks->group(mesh, {0});
  double logs = 0;
  int sizes = 0;
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{64} << 20; bytes *= 4) {
    logs += std::log(report(*ranks, group, bytes));
    ++sizes;
  }
  if (ranks->has_first_rank()) {
    std::printf("%2ld ranks: geometric mean of ours / MPI %.2f   (goal 1.15)\n", ranks->ranks(),
                std::exp(logs / sizes));
  }
  ranks->close(0, "");
}

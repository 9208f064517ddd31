// What a product costs where its loops are split so, wherever its tensors lie.

#include <algorithm>
#include <cmath>

#include "lowering/search/roles/role_cost.h"

namespace mtf {
namespace {

bool reads(const RoleOperand& operand, std::size_t loop) {
  return std::ranges::find(operand.loops, static_cast<std::int32_t>(loop)) != operand.loops.end();
}

}  // namespace

// Those of a tensor that the loops are split into.
double RoleCost::parts_of(const RoleOperand& operand, const Loops& loops) const {
  double parts = 1;
  for (std::size_t a = 0; a < loops.size(); ++a) {
    const bool splits = loops[a] >= 0 && reads(operand, static_cast<std::size_t>(loops[a]));
    parts *= splits ? static_cast<double>(mesh_.axes[a].size) : 1;
  }
  return parts;
}

// What a rank reads of two operands and writes, of equal operands once.
double RoleCost::touching(const RoleOperation& operation, const Loops& loops) const {
  const auto part = [&](const RoleOperand& operand) {
    return operations_.tensor(operand.tensor).bytes / parts_of(operand, loops);
  };
  const RoleOperand& left = operation.tensors[0];
  const RoleOperand& right = operation.tensors[1];
  const double read =
      left.tensor == right.tensor ? std::max(part(left), part(right)) : part(left) + part(right);
  return read + part(operation.tensors.back());
}

// The highest of a product of up to this side: what passes in pieces is smaller.
double RoleCost::best_rate(double side) const {
  if (hardware_.products.empty() || mesh_.uneven) {
    return flops_rate_;
  }
  double best = value_at(hardware_.products, side);
  for (const auto& [size, rate] : hardware_.products) {
    best = size <= side ? std::max(best, rate) : best;
  }
  return best;
}

bool RoleCost::all_divide(const RoleOperation& operation, const Loops& loops) const {
  for (std::size_t l = 0; l < operation.loops.size() && !mesh_.uneven; ++l) {
    double parts = 1;
    for (std::size_t a = 0; a < loops.size(); ++a) {
      const bool splits = loops[a] == static_cast<std::int32_t>(l);
      parts *= splits ? static_cast<double>(mesh_.axes[a].size) : 1;
    }
    if (std::fmod(operation.loops[l], parts) != 0) {
      return false;
    }
  }
  return true;
}

// What a rank has of each side of C[m, n] = A[m, k] B[k, n].
RoleCost::Sides RoleCost::sides_of(const RoleOperation& operation, const Loops& loops) const {
  const double products = static_cast<double>(operation.tensors.size() - 1) / 2;
  Sides sides{.m = 1, .n = 1, .k = products};
  for (std::size_t l = 0; l < operation.loops.size(); ++l) {
    double extent = operation.loops[l];
    for (std::size_t a = 0; a < loops.size(); ++a) {
      extent /=
          loops[a] == static_cast<std::int32_t>(l) ? static_cast<double>(mesh_.axes[a].size) : 1;
    }
    const bool left = reads(operation.tensors[0], l);
    const bool right = reads(operation.tensors[1], l);
    if (operation.reduced[l] != 0) {
      sides.k *= extent;
    } else if (!left || !right) {
      (left ? sides.m : sides.n) *= extent;
    }
  }
  return sides;
}

// Of C[m, n] = A[m, k] B[k, n] on one rank: the arithmetic, or what goes through memory. A matrix
// unit takes whole tiles of its shortest side, if not of others as well.
double RoleCost::product_seconds(const Work& work, const Loops& loops) const {
  const RoleOperation& operation = *work.operation;
  double parts = 1;
  for (std::size_t a = 0; a < loops.size(); ++a) {
    parts *= loops[a] >= 0 ? static_cast<double>(mesh_.axes[a].size) : 1;
  }
  const double least = work.flops / parts / flops_rate_;
  if (!operation.has_single_loops) {
    return least;
  }
  const auto [m, n, k] = sides_of(operation, loops);
  const double shortest = std::min({m, n, k});
  const double side = std::sqrt(shortest * std::cbrt(m * n * k));
  const double products = static_cast<double>(operation.tensors.size() - 1) / 2;
  const double volume = products * operation.volume / parts;
  double seconds = 2 * volume / best_rate(side);
  constexpr double kMostPieces = 64;  // a side that is cut into as many may be no side any more
  if (shortest > kMostPieces && !mesh_.uneven) {
    seconds *= std::ceil(shortest / hardware_.tile) * hardware_.tile / shortest;
  }
  const double of_dot = hardware_.seconds_of_element(operation.op->name);
  seconds = of_dot > 0 ? std::min(seconds, volume * of_dot) : seconds;
  const double memory = hardware_.memory.empty() ? 0 : touching(operation, loops) / fastest_memory_;
  return std::max({least, seconds, memory});
}

// So much of a passage that no rank gains by doing the work again that made it.
double RoleCost::charged(const RoleOperand& operand, double RoleOperand::*passage) const {
  if (objective_ != Objective::kTime || operand.*passage == 0) {
    return 0;
  }
  const double work = operand.passage_flops / flops_rate_ * (1 - hardware_.overlap);
  return operand.*passage * std::min(1.0, work * bandwidth_);
}

// With what is received of tensors on the way; `product`: its seconds. What a gather hides behind a
// product is no more than the product.
double RoleCost::with_passage(const Work& work, const Loops& loops, double product,
                              double RoleOperand::*passage) const {
  const RoleOperation& operation = *work.operation;
  Axes keeping;
  Axes summing;
  for (std::size_t a = 0; a < loops.size(); ++a) {
    if (loops[a] >= 0) {
      const bool sums = operation.reduced[static_cast<std::size_t>(loops[a])] != 0;
      (sums ? summing : keeping).push_back(static_cast<AxisId>(a));
    }
  }
  const double kept = ranks(keeping);
  const double summed = ranks(summing);
  const double seconds = objective_ != Objective::kTime ? 0
                         : work.flops > 0 ? product * (1 - hardware_.overlap) + hardware_.overhead
                                          : work.seconds / (kept * summed);
  if (work.flops == 0 || mesh_.uneven) {
    return seconds;
  }
  const auto all = static_cast<double>(mesh_.ranks());
  const RoleOperand& result = operation.tensors.back();
  const double made = charged(result, passage);
  const double whole = operations_.tensor(result.tensor).bytes;
  const double own = operation.stays_partial ? 0 : whole;
  double bytes = std::max(made, own) * (summed - 1) / all - made / (kept * summed) -
                 rounded_off(operation, whole / kept, summing, all / (kept * summed));
  for (std::size_t o = 0; o + 1 < operation.tensors.size(); ++o) {
    const RoleOperand& operand = operation.tensors[o];
    bytes += charged(operand, passage) / parts_of(operand, loops);
  }
  return seconds + moving(bytes, 0);
}

// What the axis may split, and nothing (-1), where those before it split these.
std::vector<std::int32_t> RoleCost::loops_over(const RoleOperation& operation,
                                               const std::string& places, std::size_t axis,
                                               const Loops& before) const {
  const std::int32_t same = equal_axes_.twin(places, axis);
  const std::int32_t first = same < 0 ? -1 : before[static_cast<std::size_t>(same)];
  std::vector<std::int32_t> result;
  if (first < 0) {
    result.push_back(-1);
  }
  for (auto l = static_cast<std::size_t>(std::max(0, first)); l < operation.loops.size(); ++l) {
    if (operation.loops[l] > 1 && may_split(operation, places, axis, l)) {
      result.push_back(static_cast<std::int32_t>(l));
    }
  }
  return result;
}

// The places, or where there are too many ways to split the loops under these, unknown ones, which
// cost no more: equal axes are the same then, and there are few ways.
std::string RoleCost::coarse(const RoleOperation& operation, const std::string& places) const {
  constexpr double kMostWays = 4000;
  const Loops none(mesh_.axes.size(), -1);
  double ways = 1;
  for (std::size_t a = 0; a < none.size(); ++a) {
    ways *= static_cast<double>(loops_over(operation, places, a, none).size());
  }
  return ways > kMostWays ? std::string(places.size(), static_cast<char>(kUnknown)) : places;
}

}  // namespace mtf

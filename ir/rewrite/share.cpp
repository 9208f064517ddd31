#include "ir/rewrite/share.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace mtf {
namespace {

// -0.0 is another number than 0.0, and a NaN the same as a NaN.
bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

bool same_argument(const ArgValue& a, const ArgValue& b) {
  if (a.index() != b.index()) {
    return false;
  }
  if (const auto* number = std::get_if<double>(&a)) {
    return same_bits(*number, std::get<double>(b));
  }
  if (const auto* numbers = std::get_if<std::vector<double>>(&a)) {
    return std::ranges::equal(*numbers, std::get<std::vector<double>>(b),
                              [](double x, double y) { return same_bits(x, y); });
  }
  return a == b;
}

std::size_t content_hash(std::span<const Dim> dims) {
  std::size_t hash = dims.size();
  for (const Dim& dim : dims) {
    mix_hash(hash, std::hash<std::string>()(dim.name));
    mix_hash(hash, static_cast<std::size_t>(dim.size));
  }
  return hash;
}

}  // namespace

std::size_t content_hash(const OpArgs& args) {
  std::size_t hash = args.entries().size();
  for (const auto& [name, argument] : args.entries()) {
    mix_hash(hash, argument.index());
    if (const auto* number = std::get_if<double>(&argument)) {
      mix_hash(hash, std::isnan(*number) ? 0 : std::bit_cast<std::size_t>(*number));
    } else if (const auto* whole = std::get_if<std::int64_t>(&argument)) {
      mix_hash(hash, static_cast<std::size_t>(*whole));
    } else if (const auto* shape = std::get_if<Shape>(&argument)) {
      mix_hash(hash, content_hash(shape->dims()));
    } else if (const auto* dims = std::get_if<std::vector<Dim>>(&argument)) {
      mix_hash(hash, content_hash(*dims));
    }
  }
  return hash;
}

namespace {

// Layers repeat each other's shapes and arguments: where equal ones have the same memory, they are
// compared, and known again, by that.
class Sharing {
 public:
  void share(Value& value) {
    const Dim* dims = value.type.shape.dims().data();
    const auto [shape, is_new] = shapes_.try_emplace(dims);
    if (is_new) {
      shape->second = kept(kept_shapes_, content_hash(value.type.shape.dims()), value.type.shape);
    }
    value.type.shape = shape->second;
    if (!value.args.entries().empty() && !has_place(value.args)) {
      value.args = kept(kept_args_, content_hash(value.args), value.args);
    }
  }

 private:
  template <typename T>
  using Kept = std::unordered_multimap<std::size_t, T>;  // by hash

  // A pin is told apart by where it is written, which is no part of what it is compared by.
  static bool has_place(const OpArgs& args) {
    return std::ranges::any_of(args.entries(), [](const OpArgs::Entry& entry) {
      return std::holds_alternative<Pin>(entry.second);
    });
  }

  static bool equal(const Shape& a, const Shape& b) { return a == b; }
  static bool equal(const OpArgs& a, const OpArgs& b) { return same_arguments(a, b); }

  template <typename T>
  static const T& kept(Kept<T>& all, std::size_t hash, const T& thing) {
    const auto [begin, end] = all.equal_range(hash);
    const auto found =
        std::find_if(begin, end, [&](const auto& entry) { return equal(entry.second, thing); });
    return found != end ? found->second : all.emplace(hash, thing)->second;
  }

  std::unordered_map<const Dim*, Shape> shapes_;  // by where the dims of equal ones are
  Kept<Shape> kept_shapes_;
  Kept<OpArgs> kept_args_;
};

}  // namespace

bool same_arguments(const OpArgs& a, const OpArgs& b) {
  return a.entries().data() == b.entries().data() ||
         std::ranges::equal(a.entries(), b.entries(),
                            [](const OpArgs::Entry& x, const OpArgs::Entry& y) {
                              return x.first == y.first && same_argument(x.second, y.second);
                            });
}

void share_contents(Program& program) {
  Sharing sharing;
  for (Value& value : program.values) {
    sharing.share(value);
  }
}

}  // namespace mtf

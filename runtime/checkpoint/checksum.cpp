// After the specification of xxHash 0.1.1, "XXH64 algorithm description", with seed 0.

#include "runtime/checkpoint/checksum.h"

#include <array>
#include <bit>
#include <cstring>

namespace mtf {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;
constexpr std::size_t kStripe = 32;

template <typename T>
T read_as(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof(T));
  return value;
}

std::uint64_t round_of(std::uint64_t lane, std::uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

std::uint64_t merged(std::uint64_t sum, std::uint64_t lane) {
  return (sum ^ round_of(0, lane)) * kPrime1 + kPrime4;
}

std::uint64_t of_stripes(std::span<const std::byte>& data) {
  std::array<std::uint64_t, 4> lanes = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  for (; data.size() >= kStripe; data = data.subspan(kStripe)) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i] = round_of(lanes[i], read_as<std::uint64_t>(data.data() + 8 * i));
    }
  }
  std::uint64_t sum = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                      std::rotl(lanes[3], 18);
  for (const std::uint64_t lane : lanes) {
    sum = merged(sum, lane);
  }
  return sum;
}

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> data) {
  const std::uint64_t size = data.size();
  std::uint64_t sum = (size >= kStripe ? of_stripes(data) : kPrime5) + size;
  for (; data.size() >= 8; data = data.subspan(8)) {
    sum ^= round_of(0, read_as<std::uint64_t>(data.data()));
    sum = std::rotl(sum, 27) * kPrime1 + kPrime4;
  }
  if (data.size() >= 4) {
    sum ^= read_as<std::uint32_t>(data.data()) * kPrime1;
    sum = std::rotl(sum, 23) * kPrime2 + kPrime3;
    data = data.subspan(4);
  }
  for (const std::byte byte : data) {
    sum ^= std::to_integer<std::uint64_t>(byte) * kPrime5;
    sum = std::rotl(sum, 11) * kPrime1;
  }
  sum = (sum ^ (sum >> 33U)) * kPrime2;
  sum = (sum ^ (sum >> 29U)) * kPrime3;
  return sum ^ (sum >> 32U);
}

}  // namespace mtf

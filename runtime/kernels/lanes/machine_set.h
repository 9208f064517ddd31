// The instructions of one instruction set, and what a program of them is.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ir/op.h"

namespace mtf {

inline constexpr std::size_t kLaneRegisters = 8;
inline constexpr std::size_t kLaneFns = static_cast<std::size_t>(LaneFn::kChoose) + 1;

// How an operand lies in memory.
enum class LaneKind : std::uint8_t {
  kF32,
  kBF16,
  kBool,
  kSlot,  // a group that an earlier instruction put there, as it was in the registers
  kLone,  // one f32 for all
};
inline constexpr std::size_t kLaneKinds = 5;

// Its true type is known to the instruction set alone: it takes registers.
using LaneCode = void (*)();

struct LaneInstruction {
  LaneCode code = nullptr;
  std::uint32_t place = 0;   // of the operand in memory
  std::uint32_t second = 0;  // of the next one
};

// A bool is in registers as all bits of a lane.
struct LaneSet {
  template <typename T>
  using PerKind = std::array<T, kLaneKinds>;

  PerKind<LaneCode> load{};
  PerKind<LaneCode> store{};  // what is bf16 has been rounded
  LaneCode round = nullptr;   // to bf16
  LaneCode check = nullptr;   // sets the byte at its place if something is not finite
  // To bf16 on the way to memory: the registers, which nothing reads then, stay as they are.
  LaneCode store_rounded = nullptr;
  std::array<LaneCode, kLaneFns> unary{};
  std::array<PerKind<LaneCode>, kLaneFns> binary{};    // fn(registers, memory)
  std::array<PerKind<LaneCode>, kLaneFns> reversed{};  // fn(memory, registers)
  PerKind<PerKind<LaneCode>> choose{};                 // registers ? memory : memory
  LaneCode end = nullptr;
  void (*run)(const LaneInstruction* code, std::byte* const* places, std::size_t begin,
              std::size_t end) = nullptr;
  std::size_t group = 0;  // elements that the registers hold
};

// Made when first asked for, by code of that instruction set.
[[nodiscard]] const LaneSet& lane_set_avx512();
[[nodiscard]] const LaneSet& lane_set_avx512bf16();
[[nodiscard]] const LaneSet& lane_set_avx2();

}  // namespace mtf

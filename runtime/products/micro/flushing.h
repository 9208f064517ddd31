// A mode of the processor for chains of bf16, in which subnormals are 0, going in and coming out,
// as they are for the instruction that does two indices at once. Sums of chains stay out of it:
// ranks add them as well.

#pragma once

#include <cstdint>

namespace mtf {

template <bool kFlushes>
class Flushing {
 public:
  Flushing() {
    if constexpr (kFlushes) {
      asm volatile("stmxcsr %0" : "=m"(before_) : : "memory");
      set(before_ | kFlushToZero | kDenormalsAreZero);
    }
  }
  ~Flushing() {
    if constexpr (kFlushes) {
      set(before_);
    }
  }
  Flushing(const Flushing&) = delete;
  Flushing& operator=(const Flushing&) = delete;
  Flushing(Flushing&&) = delete;
  Flushing& operator=(Flushing&&) = delete;

 private:
  static constexpr std::uint32_t kFlushToZero = 0x8000;
  static constexpr std::uint32_t kDenormalsAreZero = 0x40;

  static void set(std::uint32_t mode) { asm volatile("ldmxcsr %0" : : "m"(mode) : "memory"); }

  std::uint32_t before_ = 0;
};

}  // namespace mtf

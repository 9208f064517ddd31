// Buckets: short all-reduces that go in one message.
//
// The gradients of biases and of scales of norms are a few kilobytes each, and what each takes is
// mostly the latency of its message. Those over the same axes wait for each other, and are packed
// behind each other, as far as nobody waits for them: a message goes when it is full, or when the
// first of its sums is read. A sum is one of elements, so no bit of it depends on what it is packed
// with. (PyTorch's DistributedDataParallel and Horovod do so with all gradients.)

#pragma once

#include <cstdint>

#include "lowering/spmd.h"

namespace mtf {

// Of what a rank hands over. Packing copies each byte twice: on the links of stdlib/hardware.mtf,
// and with Ethernet, a message of more takes longer for its bytes than to begin.
constexpr std::int64_t kLongestPacked = std::int64_t{1} << 15;
// A message of all that is packed stays one of those that go in as few exchanges as can be
// (MpiOptions::scatter_from).
constexpr std::int64_t kMostPacked = (std::int64_t{1} << 18) - 1;

// Whether the step may go in one message with others.
[[nodiscard]] bool may_be_packed(const SpmdProgram& program, const Step& step);

// Whether the two may go in one.
[[nodiscard]] bool fit_together(const SpmdProgram& program, const Step& one, const Step& other);

// Puts all-reduces that go in one message next to each other, and marks them.
void bucket(SpmdProgram& program);

}  // namespace mtf

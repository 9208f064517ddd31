// A growing buffer per thread: products are many and small, and fresh pages cost more than they do.

#include "runtime/gemm_scratch.h"

#include <cstdlib>
#include <memory>
#include <new>

namespace mtf {
namespace {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

struct Buffer {
  std::unique_ptr<std::byte, Free> memory;
  std::int64_t size = 0;
};

}  // namespace

std::byte* thread_scratch(std::int64_t bytes) {
  thread_local Buffer buffer;
  if (bytes > buffer.size) {
    const std::int64_t size =
        (bytes + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
    buffer = {};
    void* memory = std::aligned_alloc(kScratchAlignment, static_cast<std::size_t>(size));
    if (memory == nullptr) {
      throw std::bad_alloc();
    }
    buffer = {.memory = std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(memory)),
              .size = size};
  }
  return buffer.memory.get();
}

}  // namespace mtf

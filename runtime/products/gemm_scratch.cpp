// A growing buffer per thread: products are many and small, and fresh pages cost more than they do.

#include "runtime/products/gemm_scratch.h"

#include <cstdlib>
#include <memory>
#include <new>
#include <sys/mman.h>

namespace mtf {
namespace {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

struct Buffer {
  std::unique_ptr<std::byte, Free> memory;
  std::int64_t size = 0;
};

// Large buffers on large pages: packing walks through more small ones than the processor remembers.
constexpr std::int64_t kLargePage = 2 * 1024 * 1024;

void* allocate(std::int64_t bytes) {
  const std::int64_t unit = bytes >= kLargePage / 2 ? kLargePage : kScratchAlignment;
  const auto size = static_cast<std::size_t>((bytes + unit - 1) / unit * unit);
  void* memory = std::aligned_alloc(static_cast<std::size_t>(unit), size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  if (unit == kLargePage) {
    static_cast<void>(madvise(memory, size, MADV_HUGEPAGE));  // advice: may be refused
  }
  return memory;
}

}  // namespace

std::byte* thread_scratch(std::int64_t bytes) {
  thread_local Buffer buffer;
  if (bytes > buffer.size) {
    buffer = {};
    buffer = {.memory = std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(allocate(bytes))),
              .size = bytes};
  }
  return buffer.memory.get();
}

}  // namespace mtf

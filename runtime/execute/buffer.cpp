// Blocks of memory and their reuse.

#include "runtime/execute/buffer.h"

#include <cassert>
#include <cstdlib>
#include <new>
#include <sys/mman.h>

namespace mtf {
namespace {

constexpr std::int64_t kAlignment = 64;
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kHugePage = std::int64_t{2} << 20;

// Sizes are rounded up so that almost equal ones share blocks: to an eighth of the size at most.
std::int64_t pool_size(std::int64_t bytes) {
  std::int64_t unit = kAlignment;
  while (unit * 16 < bytes) {
    unit *= 2;
  }
  return (bytes + unit - 1) / unit * unit;
}

std::byte* allocate(std::int64_t bytes) {
  const bool large = bytes >= kHugePage;
  const std::int64_t alignment = large ? kHugePage : kAlignment;
  void* data = nullptr;
  if (posix_memalign(&data, static_cast<std::size_t>(alignment), static_cast<std::size_t>(bytes)) !=
      0) {
    throw std::bad_alloc();
  }
  if (large) {
    // Fewer page faults, and cheaper messages; but none that is there for a rest alone, though the
    // allocator asks for huge pages everywhere. It may fail; then pages are what they are.
    const std::int64_t whole = bytes / kHugePage * kHugePage;
    const std::int64_t rest = (bytes - whole) / kPage * kPage;
    madvise(data, static_cast<std::size_t>(whole), MADV_HUGEPAGE);
    madvise(static_cast<std::byte*>(data) + whole, static_cast<std::size_t>(rest), MADV_NOHUGEPAGE);
  }
  return static_cast<std::byte*>(data);
}

}  // namespace

Buffer::Buffer(std::shared_ptr<const MappedFile> file, std::int64_t first, std::int64_t bytes)
    : data_(const_cast<std::byte*>(file->data()) + first), bytes_(bytes), file_(std::move(file)) {}

Buffer::~Buffer() {
  if (pool_ != nullptr) {
    pool_->give_back(data_, bytes_);
  }
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(pool_, other.pool_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  file_.swap(other.file_);
}

BufferPool::~BufferPool() {
  assert(live_bytes_ == 0);
  release_unused();
}

Buffer BufferPool::take(std::int64_t bytes) {
  const std::int64_t size = pool_size(bytes > 0 ? bytes : 1);
  const std::lock_guard lock(mutex_);
  Buffer buffer;
  std::vector<std::byte*>& blocks = unused_[size];
  if (!blocks.empty()) {
    buffer.data_ = blocks.back();
    blocks.pop_back();
    unused_bytes_ -= size;
  } else {
    // What programs of other sizes left behind must not add up.
    if (unused_bytes_ > live_bytes_ + size) {
      release();
    }
    buffer.data_ = allocate(size);
  }
  buffer.pool_ = this;
  buffer.bytes_ = bytes;
  live_bytes_ += bytes;
  return buffer;
}

void BufferPool::give_back(std::byte* data, std::int64_t bytes) {
  const std::int64_t size = pool_size(bytes > 0 ? bytes : 1);
  const std::lock_guard lock(mutex_);
  unused_[size].push_back(data);
  unused_bytes_ += size;
  live_bytes_ -= bytes;
}

std::int64_t BufferPool::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return live_bytes_;
}

void BufferPool::release_unused() {
  const std::lock_guard lock(mutex_);
  release();
}

void BufferPool::release() {
  for (auto& [size, blocks] : unused_) {
    for (std::byte* block : blocks) {
      std::free(block);
    }
    blocks.clear();
  }
  unused_bytes_ = 0;
}

}  // namespace mtf

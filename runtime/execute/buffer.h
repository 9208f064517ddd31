// Memory of one rank's slices: 64-byte aligned blocks that a pool keeps for reuse, so that a
// training loop neither maps nor unmaps memory. The pool outlives its buffers.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "ir/support/files/mapped_file.h"

namespace mtf {

class BufferPool;

// Move-only owner of one block; gives it back to its pool. Or a part of a file, which nobody writes
// to.
class Buffer {
 public:
  Buffer() = default;
  // requires: it is mapped; first + bytes <= file->bytes()
  Buffer(std::shared_ptr<const MappedFile> file, std::int64_t first, std::int64_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }  // as asked for
  [[nodiscard]] const std::shared_ptr<const MappedFile>& file() const { return file_; }  // or null
  void swap(Buffer& other) noexcept;

 private:
  friend class BufferPool;

  BufferPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::shared_ptr<const MappedFile> file_;
};

// Any thread may take and give back.
class BufferPool {
 public:
  BufferPool() = default;
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  BufferPool(BufferPool&&) = delete;
  BufferPool& operator=(BufferPool&&) = delete;

  // Contents are unspecified. Throws std::bad_alloc.
  [[nodiscard]] Buffer take(std::int64_t bytes);
  [[nodiscard]] std::int64_t live_bytes() const;  // in buffers that exist
  void release_unused();

 private:
  friend class Buffer;
  void give_back(std::byte* data, std::int64_t bytes);
  void release();  // with the lock held

  mutable std::mutex mutex_;

  std::map<std::int64_t, std::vector<std::byte*>> unused_;  // by rounded size
  std::int64_t unused_bytes_ = 0;
  std::int64_t live_bytes_ = 0;
};

}  // namespace mtf

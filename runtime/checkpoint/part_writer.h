// One file of a checkpoint: its data chunk by chunk, each put together by one rank.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/checkpoint/safetensors.h"
#include "runtime/checkpoint/slice_place.h"
#include "runtime/checkpoint/write.h"

namespace mtf {

inline constexpr std::int64_t kChunk = std::int64_t{1} << 22;

class PartWriter {
 public:
  // `header`: its tensors lie as `tensors` do in the list, without holes.
  PartWriter(Communicator& communicator, const Mesh& mesh, std::span<const NamedTensor> tensors,
             SafetensorsHeader header);

  // Collective. Every process has the file open, or has a problem and writes nothing. The sums of
  // all chunks are known to every process afterwards; returns "" or what failed anywhere.
  [[nodiscard]] std::string write(int file, std::string problem);
  // What goes in front of the data, with its checksums.
  [[nodiscard]] std::string header() const;

 private:
  // A rank that sends a slice, and where that is. Of ranks with the same slice, it is the first.
  struct Holder {
    std::int64_t rank = 0;
    SlicePlace place;
  };
  struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  [[nodiscard]] Range chunk(std::int64_t number) const;
  template <typename F>
  void each_run(std::int64_t rank, Range range, F&& f) const;
  [[nodiscard]] const std::byte* slice(std::size_t tensor, std::size_t local) const;
  void round_of_one_process(std::int64_t number);
  void round_of_many(std::int64_t first);
  void put(std::int64_t number, std::span<const std::byte> bytes);

  Communicator& communicator_;
  std::span<const NamedTensor> tensors_;
  SafetensorsHeader header_;
  std::vector<std::vector<Holder>> holders_;  // per tensor, by rank
  std::int64_t data_bytes_ = 0;
  std::int64_t chunks_ = 0;
  std::vector<std::string> sums_;  // of all chunks; of others' empty until they are shared
  int file_ = -1;
  std::string problem_;
};

}  // namespace mtf

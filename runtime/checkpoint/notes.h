// What mtf writes into `__metadata__`, beside the tensors.

#pragma once

#include <string_view>

namespace mtf::notes {

inline constexpr std::string_view kFormat = "format";
inline constexpr std::string_view kOurs = "mtf";
inline constexpr std::string_view kSeed = "seed";
inline constexpr std::string_view kDraws = "draws";
inline constexpr std::string_view kSteps = "steps";  // taken by each entry that trains
inline constexpr std::string_view kDims = "dims";
inline constexpr std::string_view kNote = "note";  // of the program's own
inline constexpr std::string_view kChunk = "chunk_bytes";
inline constexpr std::string_view kSums = "xxh64";              // of the chunks, 16 digits each
inline constexpr std::string_view kHeaderSum = "header_xxh64";  // of the header, this one being 0

}  // namespace mtf::notes

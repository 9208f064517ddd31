// Units of amounts, as people write them: 16 GiB, 2 MFLOP, 500 ms.

#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace mtf {

using NamedFactor = std::pair<std::string_view, double>;

inline constexpr std::array kByteUnits = std::to_array<NamedFactor>({{"B", 1},
                                                                     {"KiB", 0x1p10},
                                                                     {"MiB", 0x1p20},
                                                                     {"GiB", 0x1p30},
                                                                     {"TiB", 0x1p40},
                                                                     {"KB", 1e3},
                                                                     {"MB", 1e6},
                                                                     {"GB", 1e9},
                                                                     {"TB", 1e12}});
inline constexpr std::array kFlopUnits = std::to_array<NamedFactor>({{"FLOP", 1},
                                                                     {"kFLOP", 1e3},
                                                                     {"MFLOP", 1e6},
                                                                     {"GFLOP", 1e9},
                                                                     {"TFLOP", 1e12},
                                                                     {"PFLOP", 1e15}});
inline constexpr std::array kTimeUnits =
    std::to_array<NamedFactor>({{"s", 1}, {"ms", 1e-3}, {"min", 60}, {"h", 3600}});

}  // namespace mtf

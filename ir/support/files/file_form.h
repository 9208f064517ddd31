// What a file is by the bytes that it begins with, for those who were given one of another kind: a
// program that mixes up two of its files, or has one of another library.

#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace mtf {

// So many bytes tell.
inline constexpr std::size_t kFormBytes = 9;

// As in "is a .npy file, which `load` reads"; "": none that is known.
[[nodiscard]] std::string form_of(std::span<const std::byte> start);

// So many bytes tell text from what is none.
inline constexpr std::size_t kTextBytes = 4096;

// "" or what a file is that is no text in UTF-8, as in "is no text: byte 3 is 0".
[[nodiscard]] std::string no_text(std::span<const std::byte> start);

}  // namespace mtf

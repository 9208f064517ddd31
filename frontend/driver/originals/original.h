// What a file was before a run of `mtf verify` writes it, and the folder that keeps it.
//
// The folder says what is whose, as it has to where the process is killed. A lock on what says so
// lasts as long as the process.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace mtf {

inline constexpr std::string_view kVerifyFolder = "mtf_verify_";  // how its name begins
inline constexpr std::string_view kOriginals = "originals";       // the list in it

struct Original {
  std::string path;                    // absolute
  std::optional<std::uintmax_t> size;  // nullopt: it was not there
  bool gets_lines = false;             // at its end; else it is replaced
  std::string kept_as = {};            // what was there, of one that is replaced; else empty
};

// The name by which one file is known, whatever leads to it.
[[nodiscard]] std::string full_path(const std::string& path);

// As lists have them.
[[nodiscard]] std::string to_text(const Original& original);
[[nodiscard]] std::vector<Original> originals_in(std::string_view list);

// Another file, or more or less of it.
[[nodiscard]] bool is_changed(const Original& original);
// As it was; an error, or none.
[[nodiscard]] std::error_code put_back(const Original& original);

}  // namespace mtf

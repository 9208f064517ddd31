// Answers of searches in the user's cache folder, one small file each: its name is a hash of the
// question, its first line says more of the question, as two may have the same hash.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/layout/layout.h"

namespace mtf {

// What a search found, and how good it is: "47.9 us, proven".
struct KeptLayout {
  Layout layout;
  std::string says;
};

// The rules of the answer as text, and back onto the layout that was searched. nullopt: not such a
// text, or of another mesh.
[[nodiscard]] std::string kept_text(const KeptLayout& kept);
[[nodiscard]] std::optional<KeptLayout> read_kept(const Layout& searched, std::string_view text);

// The answer to a question. nullopt: it is not there.
[[nodiscard]] std::optional<std::string> load_kept(std::string_view question);
// "" or why it cannot be kept: then the next search is done anew.
[[nodiscard]] std::string store_kept(std::string_view question, std::string_view text);

}  // namespace mtf

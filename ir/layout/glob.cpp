#include "ir/layout/glob.h"

#include <vector>

namespace mtf {
namespace {

struct Star {
  std::size_t glob = 0;  // where it stands
  std::size_t begin = 0;
  std::size_t end = 0;  // of what it stands for
};

// Nullopt: the glob does not stand for the text. All but the last `*` stand for as little as
// possible.
std::optional<std::vector<Star>> stars_of(std::string_view glob, std::string_view text) {
  std::vector<Star> stars;
  std::size_t here = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (here < glob.size() && glob[here] == '*') {
      stars.push_back({.glob = here++, .begin = i, .end = i});
    } else if (here < glob.size() && glob[here] == text[i]) {
      ++here;
      ++i;
    } else if (!stars.empty()) {
      here = stars.back().glob + 1;
      i = ++stars.back().end;
    } else {
      return std::nullopt;
    }
  }
  for (; here < glob.size() && glob[here] == '*'; ++here) {
    stars.push_back({.glob = here, .begin = text.size(), .end = text.size()});
  }
  return here == glob.size() ? std::optional(std::move(stars)) : std::nullopt;
}

// How much of the path the glob stands for, the most that it can; npos: nothing that ends at `/`.
std::size_t named_part(std::string_view glob, std::string_view path) {
  std::size_t end = path.size();
  while (end != std::string_view::npos && end > 0 && !matches_whole(glob, path.substr(0, end))) {
    end = path.rfind('/', end - 1);
  }
  return end == 0 ? std::string_view::npos : end;
}

}  // namespace

bool matches_whole(std::string_view glob, std::string_view path) {
  return stars_of(glob, path).has_value();
}

bool matches_path(std::string_view glob, std::string_view path) {
  return named_part(glob, path) != std::string_view::npos;
}

std::optional<std::string> renamed_path(std::string_view path, std::string_view from,
                                        std::string_view to) {
  const std::size_t end = named_part(from, path);
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::vector<Star> stars = *stars_of(from, path.substr(0, end));
  std::string renamed;
  auto star = stars.begin();
  for (const char c : to) {
    if (c == '*') {
      renamed += path.substr(star->begin, star->end - star->begin);
      ++star;
    } else {
      renamed += c;
    }
  }
  return renamed.append(path.substr(end));
}

}  // namespace mtf

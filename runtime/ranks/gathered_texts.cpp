#include "runtime/ranks/gathered_texts.h"

#include <limits>
#include <numeric>

#include "ir/support/diag.h"

namespace mtf {

TextPlaces text_places(std::span<const std::int64_t> lengths) {
  const std::int64_t bytes = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  if (bytes > std::numeric_limits<int>::max()) {
    throw Failure{{.kind = DiagKind::kOverflow,
                   .span = {},
                   .text = "what " + std::to_string(lengths.size()) +
                           " ranks have to tell each other is " + std::to_string(bytes) +
                           " bytes long, more than MPI can count",
                   .notes = {}}};
  }
  TextPlaces places{.begins = {}, .lengths = {}, .bytes = static_cast<std::size_t>(bytes)};
  int begin = 0;
  for (const std::int64_t length : lengths) {
    places.begins.push_back(begin);
    places.lengths.push_back(static_cast<int>(length));
    begin += static_cast<int>(length);
  }
  return places;
}

std::vector<std::string> texts_at(const TextPlaces& places, std::string_view all) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < places.begins.size(); ++i) {
    texts.emplace_back(all.substr(static_cast<std::size_t>(places.begins[i]),
                                  static_cast<std::size_t>(places.lengths[i])));
  }
  return texts;
}

}  // namespace mtf

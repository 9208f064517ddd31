// TensorBoard's event files: records framed with checksums (TFRecord), each an `Event` message of
// protocol buffers.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/driver/metrics/metrics_file.h"

namespace mtf {

constexpr std::string_view kEventFile = "events.out.tfevents.mtf";

// CRC-32C (Castagnoli).
[[nodiscard]] std::uint32_t crc32c(std::string_view bytes);

// The first record of a file, and those of all values of a record, framed.
[[nodiscard]] std::string event_file_begin(double time);
[[nodiscard]] std::string event_of(const MetricsRecord& record);

struct ReadEvent {
  std::string_view bytes;  // the frame
  std::string entry;       // of our own: the function that trains; "" if it has no values
  std::optional<std::int64_t> step;
  std::vector<std::pair<std::string_view, double>> values;  // scalars and their tags
};
struct EventTag {
  std::string_view entry;
  std::string_view name;
};
// Of an event of our own: "entry/name".
[[nodiscard]] EventTag event_tag(std::string_view tag);

// The first event of the bytes; nullopt if it is not whole.
[[nodiscard]] std::optional<ReadEvent> first_event(std::string_view bytes);

}  // namespace mtf

#include "frontend/driver/metrics/event_file.h"

#include <array>
#include <cstring>

namespace mtf {
namespace {

constexpr std::string_view kEventVersion = "brain.Event:2";
constexpr std::string_view kNoEntry = "run";  // what stands in a tag for none

// Of `Event`, `Summary` and `Summary.Value`, with the wire types of their fields.
constexpr std::uint8_t kWallTimeField = (1 << 3) | 1;  // double
constexpr std::uint8_t kStepField = (2 << 3) | 0;      // varint
constexpr std::uint8_t kFileVersion = (3 << 3) | 2;    // string
constexpr std::uint8_t kSummaryField = (5 << 3) | 2;   // message
constexpr std::uint8_t kValueField = (1 << 3) | 2;     // message
constexpr std::uint8_t kTagField = (1 << 3) | 2;       // string
constexpr std::uint8_t kSimpleValue = (2 << 3) | 5;    // float
constexpr std::uint8_t kTensorField = (8 << 3) | 2;    // message, in place of the float
// Of `TensorProto`.
constexpr std::uint8_t kContentField = (4 << 3) | 2;  // bytes
constexpr std::uint8_t kFloatsField = (5 << 3) | 2;   // packed
constexpr std::uint8_t kDoublesField = (6 << 3) | 2;  // packed

constexpr std::array<std::uint32_t, 256> crc_table() {
  constexpr std::uint32_t kPolynomial = 0x82F63B78;  // reflected
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    }
    table[i] = crc;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = crc_table();

// As stored: a checksum of bytes that hold checksums would be a weak one.
std::uint32_t masked_crc(std::uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
}

template <typename T>
void put_raw(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
T raw_at(std::string_view bytes, std::size_t place) {
  T value{};
  std::memcpy(&value, bytes.data() + place, sizeof(T));
  return value;
}

void put_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    bytes.push_back(static_cast<char>(value | 0x80));
  }
  bytes.push_back(static_cast<char>(value));
}

void put_bytes(std::string& bytes, std::uint8_t field, std::string_view value) {
  bytes.push_back(static_cast<char>(field));
  put_varint(bytes, value.size());
  bytes.append(value);
}

std::string framed_event(std::string_view data) {
  std::string length;
  put_raw(length, static_cast<std::uint64_t>(data.size()));
  std::string frame = length;
  put_raw(frame, masked_crc(crc32c(length)));
  frame.append(data);
  put_raw(frame, masked_crc(crc32c(data)));
  return frame;
}

// Fields of a message, from the first to the last; what is not of a known form ends it.
class ProtoFields {
 public:
  explicit ProtoFields(std::string_view message) : rest_(message) {}

  bool next() {
    if (rest_.empty()) {
      return false;
    }
    if (!take_varint(field)) {
      return false;
    }
    constexpr unsigned kWireBits = 7;
    switch (field & kWireBits) {
      case 0:
        return take_varint(number);
      case 1:
        return take(sizeof(double));
      case 2:
        return take_varint(number) && take(number);
      case 5:
        return take(sizeof(float));
      default:
        return false;
    }
  }

  std::uint64_t field = 0;
  std::uint64_t number = 0;
  std::string_view bytes;

 private:
  bool take(std::uint64_t size) {
    if (rest_.size() < size) {
      return false;
    }
    bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

  bool take_varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        return true;
      }
    }
    return false;
  }

  std::string_view rest_;
};

// The bytes of the first field of that kind; empty if there is none.
std::string_view proto_field(std::string_view message, std::uint8_t field) {
  ProtoFields fields(message);
  while (fields.next()) {
    if (fields.field == field) {
      return fields.bytes;
    }
  }
  return {};
}

// Of a scalar as one tensor, which TensorFlow's own writers make of it.
std::optional<double> scalar_of_tensor(std::string_view tensor) {
  ProtoFields fields(tensor);
  while (fields.next()) {
    const bool holds_values = fields.field == kContentField || fields.field == kFloatsField ||
                              fields.field == kDoublesField;
    if (holds_values && fields.bytes.size() == sizeof(float)) {
      return raw_at<float>(fields.bytes, 0);
    }
    if (holds_values && fields.bytes.size() == sizeof(double)) {
      return raw_at<double>(fields.bytes, 0);
    }
  }
  return std::nullopt;
}

// Of a `Summary.Value`; pictures and texts have none.
std::optional<double> scalar_of_value(std::string_view value) {
  const std::string_view simple = proto_field(value, kSimpleValue);
  return simple.size() == sizeof(float) ? raw_at<float>(simple, 0)
                                        : scalar_of_tensor(proto_field(value, kTensorField));
}

void read_summary(std::string_view summary, ReadEvent& event) {
  ProtoFields values(summary);
  while (values.next()) {
    if (values.field != kValueField) {
      continue;
    }
    const std::string_view tag = proto_field(values.bytes, kTagField);
    event.entry = event_tag(tag).entry;
    if (const std::optional<double> scalar = scalar_of_value(values.bytes)) {
      event.values.emplace_back(tag, *scalar);
    }
  }
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  }
  return ~crc;
}

std::string event_file_begin(double time) {
  std::string event(1, static_cast<char>(kWallTimeField));
  put_raw(event, time);
  put_bytes(event, kFileVersion, kEventVersion);
  return framed_event(event);
}

std::string event_of(const MetricsRecord& record) {
  std::string summary;
  for (const auto& [name, number] : record.values) {
    std::string value;
    const std::string group = record.entry.empty() ? std::string(kNoEntry) : record.entry;
    put_bytes(value, kTagField, group + "/" + name);
    value.push_back(static_cast<char>(kSimpleValue));
    put_raw(value, static_cast<float>(number));
    put_bytes(summary, kValueField, value);
  }
  std::string event(1, static_cast<char>(kWallTimeField));
  put_raw(event, record.time);
  event.push_back(static_cast<char>(kStepField));
  put_varint(event, static_cast<std::uint64_t>(record.step));
  put_bytes(event, kSummaryField, summary);
  return framed_event(event);
}

EventTag event_tag(std::string_view tag) {
  const std::size_t slash = tag.find('/');
  const std::string_view group = tag.substr(0, slash);
  return {.entry = group == kNoEntry ? "" : group,
          .name = slash == std::string_view::npos ? "" : tag.substr(slash + 1)};
}

std::optional<ReadEvent> first_event(std::string_view bytes) {
  constexpr std::size_t kBefore = sizeof(std::uint64_t) + sizeof(std::uint32_t);
  constexpr std::size_t kBehind = sizeof(std::uint32_t);
  if (bytes.size() < kBefore + kBehind ||
      raw_at<std::uint32_t>(bytes, sizeof(std::uint64_t)) !=
          masked_crc(crc32c(bytes.substr(0, sizeof(std::uint64_t))))) {
    return std::nullopt;
  }
  const auto size = raw_at<std::uint64_t>(bytes, 0);
  if (size > bytes.size() - kBefore - kBehind) {
    return std::nullopt;
  }
  const std::string_view data = bytes.substr(kBefore, size);
  if (raw_at<std::uint32_t>(bytes, kBefore + size) != masked_crc(crc32c(data))) {
    return std::nullopt;
  }
  ReadEvent event{
      .bytes = bytes.substr(0, kBefore + size + kBehind), .entry = {}, .step = {}, .values = {}};
  ProtoFields fields(data);
  while (fields.next()) {
    if (fields.field == kStepField) {
      event.step = static_cast<std::int64_t>(fields.number);
    } else if (fields.field == kSummaryField) {
      read_summary(fields.bytes, event);
    }
  }
  return event;
}

}  // namespace mtf

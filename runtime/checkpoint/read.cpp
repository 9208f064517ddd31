#include "runtime/checkpoint/read.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "ir/support/files/file_form.h"
#include "ir/support/number.h"
#include "ir/support/text/parse_number.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/json_reader.h"
#include "runtime/checkpoint/notes.h"
#include "runtime/checkpoint/place.h"

namespace mtf {
namespace {

constexpr std::int64_t kLength = 8;
constexpr std::int64_t kMaxChunk = std::int64_t{1} << 26;
constexpr std::size_t kMaxParts = 100'000;

std::span<std::byte> bytes_of_text(std::string& text) {
  return std::as_writable_bytes(std::span(text));
}

std::string_view note(const SafetensorsHeader& header, std::string_view key) {
  const auto found = header.notes.find(key);
  return found == header.notes.end() ? std::string_view() : std::string_view(found->second);
}

// Whatever a bit that flipped has made of one of them.
bool is_ours(const SafetensorsHeader& header) {
  return note(header, notes::kFormat) == notes::kOurs || header.notes.contains(notes::kSums) ||
         header.notes.contains(notes::kHeaderSum);
}

// Whether it is the name of a file in the same folder.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool was_written_after(const std::string& later, const std::string& earlier) {
  std::error_code first;
  std::error_code second;
  const auto when = std::filesystem::last_write_time(later, first);
  const auto then = std::filesystem::last_write_time(earlier, second);
  return !first && !second && when > then;
}

// "" or what it is that is no safetensors file.
std::string other_form(const PlainFile& file) {
  std::array<std::byte, kFormBytes> start{};
  const auto there = std::min(start.size(), static_cast<std::size_t>(file.size()));
  const auto begin = std::span(start).first(there);
  // One with a header that is too long, or torn, is told by the length.
  const bool is_one =
      there == start.size() && file.read(0, begin) && start.back() == std::byte{'{'};
  return is_one ? "" : form_of(begin);
}

}  // namespace

CheckpointFile::CheckpointFile(const std::string& path) : path_(path) {
  if (path.ends_with(kIndexSuffix)) {
    is_missing_ = !exists(path);
    open_index(path);
    return;
  }
  if (!exists(path + std::string(kIndexSuffix))) {
    path_ = behind_links(path);  // where a checkpoint of several parts was put
  }
  const std::string index = path_ + std::string(kIndexSuffix);
  if (exists(index) && (!exists(path_) || was_written_after(index, path_))) {
    open_index(index);
  } else {
    is_missing_ = !exists(path_);
    open_part(path_);
  }
}

void CheckpointFile::open_index(const std::string& path) {
  const PlainFile file(path);
  std::string text;
  problem_ = file.problem();
  if (problem_.empty() && file.size() > kMaxHeader) {
    problem_ = "has an index of " + plural(file.size(), "byte");
  }
  if (problem_.empty()) {
    text.resize(static_cast<std::size_t>(file.size()));
    problem_ = file.read(0, bytes_of_text(text)) ? "" : "has an index that ended while it was read";
  }
  if (problem_.empty()) {
    open_parts_of(path, text);
  }
}

void CheckpointFile::open_parts_of(const std::string& index, const std::string& text) {
  std::set<std::string> names;
  JsonReader reader(text);
  std::map<std::string, std::string, std::less<>> weights;
  const bool is_read = reader.object([&](const std::string& key) {
    return key != "weight_map" ? reader.skip() : reader.object([&](const std::string& name) {
      const std::optional<std::string> part = reader.string();
      weights.insert_or_assign(name, part.value_or(""));
      names.insert(part.value_or(""));
      return part && is_plain_name(*part) && names.size() <= kMaxParts;
    });
  });
  if (!is_read || !reader.at_end() || weights.empty()) {
    problem_ = "has an index that cannot be read";
    return;
  }
  for (const std::string& name : names) {
    if (problem_.empty()) {
      open_part(beside_file(index, name));
    }
  }
  for (const auto& [name, part] : problem_.empty() ? weights : decltype(weights)()) {
    const auto found = places_.find(name);
    if (found == places_.end() || part_paths_[found->second.part] != beside_file(index, part)) {
      problem_ = "has an index that names " + in_backticks(name) + " in " + in_backticks(part) +
                 ", where it is not";
      return;
    }
  }
}

void CheckpointFile::open_part(const std::string& path) {
  Part part{.file = std::make_unique<PlainFile>(path), .header = {}, .chunk = 0, .sums = {}};
  const std::string problem = open_header(part, path);
  if (!problem.empty()) {
    problem_ = of_part(path, problem);
    return;
  }
  for (std::size_t i = 0; i < part.header.tensors.size(); ++i) {
    const std::string& name = part.header.tensors[i].name;
    if (!places_.try_emplace(name, Place{.part = parts_.size(), .tensor = i}).second) {
      problem_ = "has " + in_backticks(name) + " in two of its parts";
      return;
    }
  }
  read_notes(part.header);
  parts_.push_back(std::move(part));
  part_paths_.push_back(path);
}

std::string CheckpointFile::of_part(const std::string& path, const std::string& problem) const {
  return (path == path_ ? "" : "is made of parts, of which " + in_backticks(path) + " ") + problem;
}

std::string CheckpointFile::open_header(Part& part, const std::string& path) {
  const PlainFile& file = *part.file;
  if (!file.problem().empty()) {
    return file.problem();
  }
  constexpr const char* kNone = "is no safetensors file";
  std::array<std::byte, kLength> start{};
  if (file.size() < kLength || !file.read(0, start)) {
    return file.size() == 0 ? "is empty" : kNone;
  }
  std::uint64_t length = 0;
  std::memcpy(&length, start.data(), kLength);
  const auto room = static_cast<std::uint64_t>(file.size() - kLength);
  constexpr std::string_view kZip = "PK\x03\x04";
  if (std::memcmp(start.data(), kZip.data(), kZip.size()) == 0) {
    return "is a zip file, as `torch.save` and `numpy.savez` write; of what is in it "
           "`save_file` of the Python package safetensors makes one that can be read";
  }
  if (std::string form = other_form(file); !form.empty()) {
    return form;
  }
  if (length > static_cast<std::uint64_t>(kMaxHeader)) {
    return kNone;
  }
  if (length > room) {
    return "is torn: its header has " + plural(length, "byte") + ", and the file " +
           std::to_string(file.size());
  }
  std::string json(static_cast<std::size_t>(length), '\0');
  if (!file.read(kLength, bytes_of_text(json))) {
    return "ended while it was read";
  }
  part.header.data_begin = kLength + static_cast<std::int64_t>(length);
  identity_ ^= xxh64(std::as_bytes(std::span(json))) + parts_.size();
  if (path == path_ && (json.empty() || json.front() != '{')) {
    return kNone;
  }
  const std::string problem = read_header(json, file.size() - part.header.data_begin, part.header);
  return problem.empty() && is_ours(part.header) ? read_sums(part, std::move(json)) : problem;
}

std::string CheckpointFile::read_sums(Part& part, std::string header) {
  const std::string_view chunk = note(part.header, notes::kChunk);
  const std::string_view sums = note(part.header, notes::kSums);
  const std::string own(note(part.header, notes::kHeaderSum));
  const std::size_t place = header.find(own);
  if (own.size() != 16 || place == std::string::npos) {
    return "has a header without its checksum";
  }
  header.replace(place, own.size(), own.size(), '0');
  if (hex16(xxh64(std::as_bytes(std::span(header)))) != own) {
    return "is damaged: its header is not what was written";
  }
  part.chunk = parse_number<std::int64_t>(chunk).value_or(0);
  const std::int64_t data = part.file->size() - part.header.data_begin;
  for (std::size_t i = 0; i + 16 <= sums.size(); i += 16) {
    part.sums.push_back(parse_number<std::uint64_t>(sums.substr(i, 16), 16).value_or(0));
  }
  const bool fits = part.chunk > 0 && part.chunk <= kMaxChunk &&
                    static_cast<std::int64_t>(part.sums.size()) ==
                        data / part.chunk + (data % part.chunk == 0 ? 0 : 1);
  return fits ? "" : "has a header without the checksums of its data";
}

void CheckpointFile::read_notes(const SafetensorsHeader& header) {
  if (!is_ours(header)) {
    return;
  }
  if (!notes_) {
    notes_.emplace();
  }
  notes_->seed = parse_number<std::uint64_t>(note(header, notes::kSeed)).value_or(0);
  notes_->draws = parse_number<std::uint64_t>(note(header, notes::kDraws)).value_or(0);
  notes_->note = note(header, notes::kNote);
  JsonReader steps(note(header, notes::kSteps));
  static_cast<void>(steps.object([&](const std::string& entry) {
    const std::optional<std::int64_t> taken = steps.whole();
    notes_->steps[entry] = taken.value_or(0);
    return taken.has_value();
  }));
  JsonReader reader(note(header, notes::kDims));
  static_cast<void>(reader.object([&](const std::string& name) {
    std::vector<std::string>& dims = notes_->dims[name];
    return reader.array([&] {
      std::optional<std::string> dim = reader.string();
      dims.push_back(dim.value_or(""));
      return dim.has_value();
    });
  }));
}

const FileTensor* CheckpointFile::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr
                                : &parts_[found->second.part].header.tensors[found->second.tensor];
}

std::vector<std::string> CheckpointFile::names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : places_) {
    names.push_back(name);
  }
  return names;
}

// "" or what is wrong with the chunk.
std::string CheckpointFile::damage_of(const Part& part, std::int64_t chunk) {
  const std::int64_t data = part.file->size() - part.header.data_begin;
  const std::int64_t begin = chunk * part.chunk;
  const std::int64_t end = std::min(begin + part.chunk, data);
  std::vector<std::byte> bytes(static_cast<std::size_t>(end - begin));
  if (!part.file->read(part.header.data_begin + begin, bytes)) {
    return "ended while it was read";
  }
  if (xxh64(bytes) == part.sums[static_cast<std::size_t>(chunk)]) {
    return "";
  }
  const auto first = std::ranges::find_if(
      part.header.tensors, [&](const FileTensor& tensor) { return tensor.end > begin; });
  std::int64_t others = -1;
  for (const FileTensor& tensor : part.header.tensors) {
    others += tensor.end > begin && tensor.begin < end ? 1 : 0;
  }
  return "is damaged: " + plural(end - begin, "byte") + (end - begin == 1 ? " is" : " are") +
         " not what was written, in " + in_backticks(first->name) +
         (others > 0 ? " and " + std::to_string(others) + " more" : "");
}

// Those that the tensors lie in; none of a part without checksums.
std::set<std::int64_t> CheckpointFile::chunks_of(const Part& part,
                                                 const std::set<std::string>& names) {
  std::set<std::int64_t> chunks;
  for (const FileTensor& tensor : part.header.tensors) {
    const bool is_read = part.chunk > 0 && tensor.end > tensor.begin && names.contains(tensor.name);
    for (std::int64_t at = tensor.begin; is_read && at < tensor.end;
         at = (at / part.chunk + 1) * part.chunk) {
      chunks.insert(at / part.chunk);
    }
  }
  return chunks;
}

std::string CheckpointFile::damage(const std::set<std::string>& names, std::int64_t first,
                                   std::int64_t of) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    for (const std::int64_t chunk : chunks_of(parts_[i], names)) {
      const std::string problem = chunk % of == first ? damage_of(parts_[i], chunk) : "";
      if (!problem.empty()) {
        return of_part(part_paths_[i], problem);
      }
    }
  }
  return "";
}

std::string first_problem(Communicator& communicator, const std::string& mine) {
  const std::vector<std::string> local(communicator.local_ranks().size(), mine);
  const std::vector<std::string> all = communicator.share(local);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (!all[rank].empty()) {
      return all[rank] + (rank == 0 ? "" : " (rank " + std::to_string(rank) + ")");
    }
  }
  return "";
}

std::string shared_damage(const CheckpointFile& file, const std::set<std::string>& names,
                          Communicator& communicator) {
  const std::int64_t readers = communicator.has_all_ranks() ? 1 : communicator.ranks();
  return first_problem(communicator,
                       file.damage(names, communicator.local_ranks().front(), readers));
}

std::string newest_whole(const std::string& path) {
  for (const std::string& other : siblings(path)) {
    if (other == path) {
      continue;
    }
    const CheckpointFile file(other);
    const std::vector<std::string> names = file.names();
    if (file.problem().empty() && file.damage({names.begin(), names.end()}).empty()) {
      return other;
    }
  }
  return "";
}

}  // namespace mtf

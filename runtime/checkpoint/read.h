// Reading tensors back: from one .safetensors file, or from those that an index names.
//
// What is there is checked before it is believed: headers when a file is opened, by every process
// alike, and the data by its checksums, each process a part of it. A rank reads its slices alone.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/file.h"
#include "runtime/checkpoint/safetensors.h"
#include "runtime/execute/tensor.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

// How elements of one dtype become those of another.
using ConvertElements = void (*)(DType from, DType to, const void* data, std::size_t n, void* out);

// What is written besides tensors; absent from a file of another program.
struct CheckpointNotes {
  std::uint64_t seed = 0;
  std::uint64_t draws = 0;                               // where the random stream is
  std::map<std::string, std::int64_t> steps;             // taken by each entry that trains
  std::map<std::string, std::vector<std::string>> dims;  // of each tensor, their names
  std::string note;                                      // of the program's own; "": none
};

class CheckpointFile {
 public:
  // Of a plain file, of `path` + ".index.json", or of such an index itself.
  explicit CheckpointFile(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }  // "" or what is wrong
  [[nodiscard]] bool is_missing() const { return is_missing_; }
  // Null: it has none of that name.
  [[nodiscard]] const FileTensor* find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] const std::optional<CheckpointNotes>& notes() const { return notes_; }
  // Files that it consists of.
  [[nodiscard]] const std::vector<std::string>& parts() const { return part_paths_; }
  // The same for files of the same content.
  [[nodiscard]] std::uint64_t identity() const { return identity_; }

  // "" or what of these tensors' data is not what was written; looks at every `of`th chunk.
  [[nodiscard]] std::string damage(const std::set<std::string>& names, std::int64_t first = 0,
                                   std::int64_t of = 1) const;
  // The slices of the local ranks. "" or what went wrong: the file ends before, or has a number
  // that the dtype has not. requires: the tensor is in the file, has a `stored_type` and the sizes
  // of the shape.
  [[nodiscard]] std::string read(std::string_view name, const Communicator& communicator,
                                 const Mesh& mesh, ConvertElements convert,
                                 RankTensor& tensor) const;

 private:
  struct Part {
    std::unique_ptr<PlainFile> file;
    SafetensorsHeader header;
    std::int64_t chunk = 0;  // bytes; 0: its data has no checksums
    std::vector<std::uint64_t> sums;
  };
  struct Place {
    std::size_t part = 0;
    std::size_t tensor = 0;
  };

  void open_index(const std::string& path);
  void open_parts_of(const std::string& index, const std::string& text);
  void open_part(const std::string& path);
  // The problem of one file, which is named where it is a part.
  [[nodiscard]] std::string of_part(const std::string& path, const std::string& problem) const;
  std::string open_header(Part& part, const std::string& path);
  static std::string read_sums(Part& part, std::string header);
  void read_notes(const SafetensorsHeader& header);
  [[nodiscard]] static std::set<std::int64_t> chunks_of(const Part& part,
                                                        const std::set<std::string>& names);
  [[nodiscard]] static std::string damage_of(const Part& part, std::int64_t chunk);

  std::string path_;
  std::string problem_;
  bool is_missing_ = false;
  std::vector<Part> parts_;
  std::vector<std::string> part_paths_;
  std::map<std::string, Place, std::less<>> places_;
  std::optional<CheckpointNotes> notes_;
  std::uint64_t identity_ = 0;
};

// Collective: the damage that any process found in its share, on all of them.
[[nodiscard]] std::string shared_damage(const CheckpointFile& file,
                                        const std::set<std::string>& names,
                                        Communicator& communicator);
// The newest whole checkpoint beside a place whose name differs from it in numbers only; "" if none
// is.
[[nodiscard]] std::string newest_whole(const std::string& path);

// Collective: what the first rank that has something to say says, and which rank that is where
// there are several; "" if none has.
[[nodiscard]] std::string first_problem(Communicator& communicator, const std::string& mine);

}  // namespace mtf

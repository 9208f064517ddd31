#include "runtime/checkpoint/write.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <unistd.h>
#include <utility>

#include "ir/support/file.h"
#include "ir/support/number.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/json_reader.h"
#include "runtime/checkpoint/notes.h"
#include "runtime/checkpoint/part_writer.h"
#include "runtime/checkpoint/place.h"
#include "runtime/checkpoint/read.h"

namespace mtf {
namespace {

// What one process knows of a part that is being written.
struct WrittenPart {
  std::string temporary;
  std::string name;                // once all are written
  std::vector<std::string> holds;  // tensors
};

class CheckpointWriter {
 public:
  CheckpointWriter(Communicator& communicator, const Mesh& mesh,
                   std::span<const NamedTensor> tensors, CheckpointPlan plan)
      : communicator_(communicator), mesh_(mesh), plan_(std::move(plan)) {
    plan_.path = behind_links(plan_.path);
    tensors_.assign(tensors.begin(), tensors.end());
    std::ranges::sort(tensors_, [](const NamedTensor& a, const NamedTensor& b) {
      const std::size_t wide = bytes_of(a.tensor->type.dtype);
      const std::size_t narrow = bytes_of(b.tensor->type.dtype);
      return wide != narrow ? wide > narrow : a.name < b.name;  // so that each is aligned
    });
  }

  std::string run() {
    std::string problem = first_problem(communicator_, prepare());
    const std::vector<std::span<const NamedTensor>> parts = in_parts();
    for (std::size_t i = 0; problem.empty() && i < parts.size(); ++i) {
      problem = write_part(parts[i]);
    }
    if (problem.empty()) {
      problem = first_problem(communicator_, is_first() ? put_in_place() : "");
    }
    if (is_first() && !problem.empty()) {
      remove(placed_, {replaced_.begin(), replaced_.end()});
      for (const WrittenPart& part : written_) {
        ::unlink(part.temporary.c_str());
      }
    }
    return problem;
  }

 private:
  [[nodiscard]] bool is_first() const { return communicator_.has_first_rank(); }

  std::string prepare() {
    if (!is_first()) {
      return "";
    }
    std::string problem = make_place(plan_.path);
    if (problem.empty()) {
      remove_abandoned(plan_.path);
      const CheckpointFile old(plan_.path);
      replaced_ = old.parts();
    }
    return problem;
  }

  // Tensors that lie in one file, in order.
  [[nodiscard]] std::vector<std::span<const NamedTensor>> in_parts() const {
    std::vector<std::span<const NamedTensor>> parts;
    std::size_t begin = 0;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const std::int64_t more = tensors_[i].tensor->type.bytes();
      if (i > begin && bytes + more > plan_.part_bytes) {
        parts.push_back(std::span(tensors_).subspan(begin, i - begin));
        begin = i;
        bytes = 0;
      }
      bytes += more;
    }
    parts.push_back(std::span(tensors_).subspan(begin));
    return parts;
  }

  [[nodiscard]] SafetensorsHeader header_of(std::span<const NamedTensor> tensors) const {
    SafetensorsHeader header;
    std::string dims;
    std::int64_t at = 0;
    for (const NamedTensor& named : tensors) {
      const TensorType& type = named.tensor->type;
      FileTensor tensor{.name = named.name, .dtype = std::string(word_of(type.dtype)), .sizes = {}};
      std::string names;
      for (const Dim& dim : type.shape.dims()) {
        tensor.sizes.push_back(dim.size);
        names += (names.empty() ? "" : ",") + json_string(dim.name);
      }
      tensor.begin = at;
      tensor.end = at += type.bytes();
      dims += (dims.empty() ? "{" : ",") + json_string(named.name) + ":[" + names + "]";
      header.tensors.push_back(std::move(tensor));
    }
    const auto note = [&](std::string_view key, std::string text) {
      header.notes.emplace(key, std::move(text));
    };
    note(notes::kFormat, std::string(notes::kOurs));
    note(notes::kSeed, std::to_string(plan_.seed));
    note(notes::kDraws, std::to_string(plan_.draws));
    note(notes::kDims, dims + "}");
    if (!plan_.steps.empty()) {
      note(notes::kSteps, steps_text());
    }
    if (!plan_.note.empty()) {
      note(notes::kNote, plan_.note);
    }
    return header;
  }

  [[nodiscard]] std::string steps_text() const {
    std::string text;
    for (const auto& [entry, steps] : plan_.steps) {
      text += (text.empty() ? "{" : ",") + json_string(entry) + ":" + std::to_string(steps);
    }
    return text + "}";
  }

  // A name that all ranks write to.
  std::string write_part(std::span<const NamedTensor> tensors) {
    const std::string place =
        plan_.path + (written_.empty() ? "" : "." + std::to_string(written_.size()));
    TemporaryFile own;
    if (is_first()) {
      own = make_temporary(place);
    }
    const std::vector<std::string> local(communicator_.local_ranks().size(), own.path);
    const std::string temporary = communicator_.share(local).front();
    written_.push_back({.temporary = temporary, .name = {}, .holds = {}});
    std::string problem = first_problem(communicator_, own.problem);
    if (!is_first() && problem.empty()) {
      own.file = ::open(temporary.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
      own.problem = own.file < 0 ? std::strerror(errno) : "";
    }
    PartWriter writer(communicator_, mesh_, tensors, header_of(tensors));
    if (problem.empty()) {
      problem = writer.write(own.file, own.problem);
    }
    if (is_first() && problem.empty()) {
      const std::string header = writer.header();
      kind_ ^= xxh64(std::as_bytes(std::span(header))) + written_.size();
      own.problem = write_header(own.file, header);
      for (const NamedTensor& named : tensors) {
        written_.back().holds.push_back(named.name);
      }
    }
    if (own.file >= 0 && ::close(own.file) != 0 && own.problem.empty()) {
      own.problem = std::strerror(errno);
    }
    return problem.empty() ? first_problem(communicator_, own.problem) : problem;
  }

  static std::string write_header(int file, const std::string& header) {
    const int error = write_all_at(file, std::as_bytes(std::span(header)), 0);
    return error == 0 && ::fsync(file) == 0 ? "" : std::strerror(error == 0 ? errno : error);
  }

  // The parts, then what names them: from then on the checkpoint is the new one.
  std::string put_in_place() {
    const bool is_one = written_.size() == 1;
    const std::string kind = hex16(kind_).substr(0, 8);
    std::set<std::string> now;
    for (std::size_t i = 0; i < written_.size(); ++i) {
      WrittenPart& part = written_[i];
      part.name = part_name(plan_.path, kind, i + 1, written_.size());
      const std::string place = is_one ? plan_.path : beside_file(plan_.path, part.name);
      if (std::rename(part.temporary.c_str(), place.c_str()) != 0) {
        return std::strerror(errno);
      }
      now.insert(place);
      if (!is_one) {
        placed_.push_back(place);  // no checkpoint without their index
      }
    }
    std::string problem = sync_folder_of(plan_.path);
    const std::string index = plan_.path + std::string(kIndexSuffix);
    if (problem.empty() && !is_one) {
      problem = write_index(index);
      now.insert(index);
    }
    if (problem.empty()) {
      replaced_.push_back(is_one ? index : plan_.path);
      remove(replaced_, now);
      remove_older();
      static_cast<void>(sync_folder_of(plan_.path));
    }
    return problem;
  }

  [[nodiscard]] std::string write_index(const std::string& index) const {
    std::string text;
    std::int64_t bytes = 0;
    for (const NamedTensor& named : tensors_) {
      bytes += named.tensor->type.bytes();
    }
    for (const WrittenPart& part : written_) {
      for (const std::string& name : part.holds) {
        text += (text.empty() ? "" : ",\n") + ("    " + json_string(name)) + ": " +
                json_string(part.name);
      }
    }
    text = "{\n  \"metadata\": {\n    \"format\": \"mtf\",\n    \"total_size\": " +
           std::to_string(bytes) + "\n  },\n  \"weight_map\": {\n" + text + "\n  }\n}\n";
    TemporaryFile file = make_temporary(index);
    std::string problem = file.problem.empty() ? write_header(file.file, text) : file.problem;
    if (file.file >= 0) {
      ::close(file.file);
    }
    if (problem.empty() && std::rename(file.path.c_str(), index.c_str()) != 0) {
      problem = std::strerror(errno);
    }
    if (!problem.empty()) {
      ::unlink(file.path.c_str());
    }
    return problem.empty() ? sync_folder_of(index) : problem;
  }

  static void remove(const std::vector<std::string>& files, const std::set<std::string>& but) {
    for (const std::string& file : files) {
      if (!but.contains(file)) {
        ::unlink(file.c_str());
      }
    }
  }

  // Siblings beyond those to be kept, as far as mtf has written them. This one is the newest,
  // whatever the times of the others say: a clock may have been set back, or be another host's.
  void remove_older() const {
    std::int64_t kept = 1;
    for (const std::string& sibling :
         plan_.keep > 0 ? siblings(plan_.path) : std::vector<std::string>()) {
      if (sibling == plan_.path) {
        continue;
      }
      const CheckpointFile file(sibling);
      const bool is_ours = file.problem().empty() && file.notes();
      if (!is_ours || ++kept <= plan_.keep) {
        continue;
      }
      ::unlink((sibling + std::string(kIndexSuffix)).c_str());  // first: parts alone are nothing
      remove(file.parts(), {});
    }
  }

  Communicator& communicator_;
  const Mesh& mesh_;
  CheckpointPlan plan_;
  std::vector<NamedTensor> tensors_;
  std::vector<WrittenPart> written_;
  std::vector<std::string> replaced_;  // files of the checkpoint that was there
  std::vector<std::string> placed_;    // parts of the new one, until its index is there
  std::uint64_t kind_ = 0;             // of the content
};

}  // namespace

std::string write_checkpoint(Communicator& communicator, const Mesh& mesh,
                             std::span<const NamedTensor> tensors, const CheckpointPlan& plan) {
  return CheckpointWriter(communicator, mesh, tensors, plan).run();
}

}  // namespace mtf

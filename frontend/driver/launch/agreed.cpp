#include "frontend/driver/launch/agreed.h"

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "frontend/driver/launch/line.h"
#include "frontend/elaborate/context.h"

namespace mtf {
namespace {

// What decides what is computed, and what ranks do together. One line.
std::string options_in_common(const Options& options) {
  std::vector<std::string> all = {options.layout,   options.mesh,
                                  options.rules,    options.precision,
                                  options.hardware, std::to_string(options.seed)};
  for (const std::int64_t number :
       {options.steps_begin, options.steps_end,
        static_cast<std::int64_t>(options.emit ? static_cast<int>(*options.emit) : -1)}) {
    all.push_back(std::to_string(number));
  }
  for (const bool flag : {options.fast, options.nan_is_error, options.check_nan, options.count,
                          options.profile, !options.trace.empty(), options.json, options.locked}) {
    all.emplace_back(flag ? "yes" : "no");
  }
  all.insert(all.end(), options.settings.begin(), options.settings.end());
  std::string text = shell_line(all);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string words_on_a_line(const Options& options) {
  std::string text = shell_line(options.words);
  std::ranges::replace(text, '\n', ' ');
  return text;
}

constexpr std::size_t kFirstFile = 2;  // among the lines

// The options, the words that gave them, and a number for the text of each file.
std::string told_to_others(const Workspace& workspace, std::span<const FileId> files) {
  std::string text =
      options_in_common(workspace.options) + "\n" + words_on_a_line(workspace.options) + "\n";
  for (const FileId file : files) {
    text += std::to_string(std::hash<std::string>()(workspace.sources.file(file).text)) + "\n";
  }
  return text;
}

// The program's own, and those that it imports.
std::vector<FileId> files_read_by(const CheckedProgram& program, FileId main) {
  std::vector<FileId> files = {main};
  for (const auto& [key, module] : program.session.context().modules.by_key) {
    if (!module->is_standard && module->file.id != main) {
      files.push_back(module->file.id);
    }
  }
  return files;
}

using Lines = std::vector<std::string_view>;

bool say_the_same(const Lines& a, const Lines& b) {
  return a[0] == b[0] &&
         std::ranges::equal(a.begin() + kFirstFile, a.end(), b.begin() + kFirstFile, b.end());
}

std::string what_differs(const Lines& first, const Lines& other, const std::string& rank,
                         const SourceMap& sources, std::span<const FileId> files) {
  if (first[0] != other[0]) {
    return rank + " was started as `mtf " + std::string(other[1]) + "`, and rank 0 as `mtf " +
           std::string(first[1]) + "`; all ranks need the same options";
  }
  const auto place =
      static_cast<std::size_t>(std::ranges::mismatch(first.begin() + kFirstFile, first.end(),
                                                     other.begin() + kFirstFile, other.end())
                                   .in1 -
                               (first.begin() + kFirstFile));
  const FileId file = files[std::min(place, files.size() - 1)];
  return "`" + sources.file(file).name + "` says something else on " + rank +
         " than on rank 0; all ranks have to see the same files, on a disk that they share";
}

}  // namespace

bool are_started_alike(const Workspace& workspace, const CheckedProgram& program, FileId main,
                       Communicator& world, DiagSink& diags) {
  const std::vector<FileId> files = files_read_by(program, main);
  const std::vector<std::string> all = world.share(std::array{told_to_others(workspace, files)});
  const Lines first = lines_of(all[0]);
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    const Lines other = lines_of(all[rank]);
    if (!say_the_same(first, other)) {
      diags.error(
          DiagKind::kFile, {},
          what_differs(first, other, "rank " + std::to_string(rank), workspace.sources, files));
      return false;
    }
  }
  return true;
}

}  // namespace mtf

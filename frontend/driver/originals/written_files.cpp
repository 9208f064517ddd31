#include "frontend/driver/originals/written_files.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

#include "ir/op.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string text) {
  throw Failure{{.kind = DiagKind::kFile, .text = std::move(text)}};
}

// Locked before it has its name, so that nobody takes it for that of a process that has ended.
int locked_list(const std::string& path) {
  const std::string unnamed = beside(path);
  const int file = ::open(unnamed.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool is_made =
      file >= 0 && ::flock(file, LOCK_EX) == 0 && ::rename(unnamed.c_str(), path.c_str()) == 0;
  if (!is_made && file >= 0) {
    ::close(file);
  }
  return is_made ? file : -1;
}

// A file is replaced by another, so that a second name keeps it; on another disk a copy does, which
// has its name once it is whole.
void keep(const std::string& path, const std::string& as) {
  std::error_code error;
  fs::create_hard_link(path, as, error);
  if (error) {
    const std::string unfinished = beside(as);
    fs::copy_file(path, unfinished, error);
    if (!error) {
      fs::rename(unfinished, as, error);
    }
  }
  if (error) {
    fail(in_backticks(path) +
         ", which the program writes, cannot be kept as it is: " + error.message());
  }
}

}  // namespace

WrittenFiles::WrittenFiles() : left_(left_originals()) {
  std::error_code error;
  if (folder_.is_made()) {
    list_ = locked_list(folder_.path() + "/" + std::string(kOriginals));
  }
  if (list_ < 0 || !fs::create_directory(checkpoints(), error)) {
    fail("no folder can be made in " + in_backticks(folder_.path()));
  }
}

WrittenFiles::~WrittenFiles() {
  DiagSink unheard;
  restore(unheard);
  if (list_ >= 0) {
    ::close(list_);
  }
}

void WrittenFiles::note(const Program& program) {
  for (const Value& value : program.values) {
    const auto* path = value.args.get<std::string>("path");
    if (value.op != nullptr && value.op->file == FileUse::kWrites && path != nullptr) {
      note(behind_links(*path), value.operands.empty());
    }
  }
}

void WrittenFiles::note(const std::string& path, bool gets_lines) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  const bool is_new = error == std::errc::no_such_file_or_directory;
  if (files_.contains(path) || (error && !is_new)) {  // to any other the run will write nothing
    return;
  }
  Original file{
      .path = full_path(path),
      .size = is_new ? std::nullopt : std::optional(size),
      .gets_lines = gets_lines,
      .kept_as = is_new || gets_lines ? "" : folder_.path() + "/" + std::to_string(files_.size())};
  if (is_left(left_, file.path)) {
    fail(in_backticks(path) +
         " is still as a `mtf verify` that was killed has left it; `mtf doctor --clean` puts back "
         "what was there before");
  }
  const std::string noted = to_text(file);
  if (write_all(list_, std::as_bytes(std::span(noted))) != 0) {
    fail(in_backticks(path) + ", which the program writes, cannot be noted in " +
         in_backticks(folder_.path()));
  }
  if (!file.kept_as.empty()) {
    keep(path, file.kept_as);
  }
  files_.emplace(path, std::move(file));
}

void WrittenFiles::restore(DiagSink& diags) {
  for (const auto& [path, file] : std::exchange(files_, {})) {
    if (const std::error_code error = put_back(file); error) {
      diags.error(
          DiagKind::kFile, {},
          in_backticks(path) + " was written by this run and cannot be put back as it was, " +
              (file.size ? plural(*file.size, "byte") : "not there") + ": " + error.message());
    }
  }
}

std::vector<std::string> WrittenFiles::lines() const {
  std::vector<std::string> lines;
  for (const auto& [path, kept] : files_) {
    if (!kept.gets_lines) {
      continue;
    }
    std::ifstream file(path);
    file.seekg(static_cast<std::streamoff>(kept.size.value_or(0)));
    for (std::string line; std::getline(file, line);) {
      lines.push_back(path + ": " + line);
    }
  }
  return lines;
}

}  // namespace mtf

// Files that a run of `mtf verify` writes, or adds lines to. Each is put back as it was, so that
// every layout begins with the same, and the user's are as they were: whatever ends the run.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/driver/originals/left_originals.h"
#include "frontend/driver/originals/original.h"
#include "ir/program.h"
#include "ir/support/diag.h"
#include "ir/support/file.h"

namespace mtf {

class WrittenFiles {
 public:
  // Throws a `Failure` where there is no place for what is kept.
  WrittenFiles();
  ~WrittenFiles();
  WrittenFiles(const WrittenFiles&) = delete;
  WrittenFiles& operator=(const WrittenFiles&) = delete;
  WrittenFiles(WrittenFiles&&) = delete;
  WrittenFiles& operator=(WrittenFiles&&) = delete;

  // Before the program runs. Throws a `Failure` where a file cannot be kept, or is still as a run
  // that was killed has left it.
  void note(const Program& program);
  // Which of them cannot be put back is an error.
  void restore(DiagSink& diags);
  // What was added.
  [[nodiscard]] std::vector<std::string> lines() const;
  // Where its checkpoints go instead: each layout begins without those of the others, and those of
  // the user stay.
  [[nodiscard]] std::string checkpoints() const { return folder_.path() + "/checkpoints"; }

 private:
  void note(const std::string& path, bool gets_lines);

  TemporaryFolder folder_{kVerifyFolder};
  int list_ = -1;                            // the open file, which is locked
  std::vector<LeftFolder> left_;             // by those that were killed
  std::map<std::string, Original> files_{};  // by path, as the program has it
};

}  // namespace mtf

// Outputs of a program that need not be computed: what lies in a file as it is, and ranges of it.
//
// Whether an output is one follows from the plan and the file, which all ranks see alike.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/execute/executor_host.h"
#include "runtime/execute/tensor.h"

namespace mtf {

struct FileOutput {
  std::size_t output = 0;  // of the program
  // The input that it is a range of, from this element of a rank's slice on; none: it is read.
  std::optional<std::size_t> input = {};
  std::int64_t first = 0;
};

// Of a call whose result may be one.
[[nodiscard]] std::optional<FileOutput> file_output(const SpmdProgram& program,
                                                    const LocalCall& call);

// Gives the output its parts of the file. False: it is none, here or on another rank, and the
// kernel is to run. Collective.
[[nodiscard]] bool take_from_file(const SpmdProgram& program, const LocalCall& call,
                                  const FileOutput& from, std::span<const RankTensor* const> inputs,
                                  Communicator& communicator, RankTensor& output);

// Reports what has become of the files that inputs and outputs are parts of. Whether there are any:
// alike on all ranks.
bool check_files(std::span<const RankTensor* const> inputs, std::span<const RankTensor> outputs,
                 std::vector<RankHost>& hosts);

// Of what a rank of this process holds in a run, the bytes that are no memory of its own, added up:
// parts of files among the inputs, and outputs that will be.
[[nodiscard]] std::int64_t bytes_in_files(const SpmdProgram& program,
                                          std::span<const RankTensor* const> inputs);

}  // namespace mtf

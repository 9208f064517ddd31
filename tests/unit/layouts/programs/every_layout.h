// Runs a small program on one rank and under every legal layout of many meshes, in this process.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "ir/host_tensor.h"
#include "ir/layout/layout.h"
#include "ir/program.h"
#include "lowering/lower.h"
#include "runtime/ranks/communicator.h"

namespace mtf::tests {

// The program of the function `case` of a .mtf text. requires: the text is right.
[[nodiscard]] Program program_of(const std::string& text);

// Its plan. requires: the layout fits.
[[nodiscard]] SpmdProgram lowered(const Program& program, const Layout& layout);

// A mesh with axes x, y, z, w of these sizes.
[[nodiscard]] Mesh mesh_of(const std::vector<std::int64_t>& sizes);

// Every assignment of axes to dims of the program, axes in both orders where two share a dim.
[[nodiscard]] std::vector<Layout> layouts_of(const Program& program, const Mesh& mesh);

// Each axis to some dim that it divides, or to none; axes that share a dim in any order.
[[nodiscard]] Layout random_layout(std::span<const Program> entries, const Mesh& mesh,
                                   std::mt19937_64& random);

// The same, and some rules end in `*`, some dims without a rule have `*` alone or follow the others
// (`infer`), what is gathered is kept or not, or passes in pieces.
[[nodiscard]] Layout refined_layout(std::span<const Program> entries, const Mesh& mesh,
                                    std::mt19937_64& random);

// The same, and some rules get a condition on an axis that they leave alone.
[[nodiscard]] Layout partly_held(Layout layout, std::mt19937_64& random);

// "[batch -> x, io -> (y, z)] on m[x: 2, y: 2, z: 2]"
[[nodiscard]] std::string to_string(const Layout& layout);

struct Outcome {
  std::vector<HostTensor> seen;  // whole: inputs as each entry left them, and outputs
  std::vector<std::string> printed = {};
  std::string problem;   // what was predicted and not executed
  bool promised = true;  // `mtf verify` sees nothing that ends the promise of equal bits
};

// Of a rank, as in ExecutorOptions.
struct RankThreads {
  int threads = 0;
  std::int64_t least_share = 0;
};

// Lowers and runs entries one after the other, each on the outputs of the one before; nullopt where
// the layout does not fit. On ranks simulated here, or on those of a communicator.
[[nodiscard]] std::optional<Outcome> run_under(std::span<const Program> entries,
                                               const Layout& layout, RankThreads threads = {});
[[nodiscard]] std::optional<Outcome> run_under(std::span<const Program> entries,
                                               const Layout& layout, Communicator& communicator,
                                               RankThreads threads = {});

// Equal bits, but that one NaN is as good as another.
[[nodiscard]] bool same_values(const Outcome& a, const Outcome& b);

// "" or the first tensor whose floats are not those of one rank but for rounding. What rounding
// decides, as an argmax or a comparison, may differ by it.
[[nodiscard]] std::string wrong_tensor(const Outcome& one, const Outcome& many);

// Equal numbers: the sign of a zero is no difference.
[[nodiscard]] bool same_numbers(const Outcome& a, const Outcome& b);

struct Report {
  std::int64_t legal = 0;
  std::int64_t refused = 0;
  std::string first_difference;  // "" when all layouts gave the bits of one rank
};

[[nodiscard]] Report compare_all(const Program& program,
                                 const std::vector<std::vector<std::int64_t>>& meshes);

}  // namespace mtf::tests

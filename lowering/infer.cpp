#include "lowering/infer.h"

namespace mtf {

void infer(const Program& /*program*/, const Layout& /*layout*/,
           std::span<const std::vector<bool>> /*open*/, std::span<Target> /*targets*/) {}

}  // namespace mtf

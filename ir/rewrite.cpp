// To come.

#include "ir/rewrite.h"

namespace mtf {

Program simplify(const Program& program, OpTable /*ops*/) {
  return program;
}

}  // namespace mtf

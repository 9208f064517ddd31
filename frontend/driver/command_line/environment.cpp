#include "frontend/driver/command_line/environment.h"

#include <cstdlib>
#include <string_view>

#include "ir/support/text/parse_number.h"
#include "runtime/kernels/cpu.h"

namespace mtf {
std::string misuse_of_environment() {
  const char* threads = std::getenv("MTF_THREADS");
  if (threads != nullptr && parse_number<int>(threads).value_or(0) < 1) {
    return "`MTF_THREADS=" + std::string(threads) +
           "` is no number of threads of a rank; 1 or more, as MTF_THREADS=4, or unset it";
  }
  const char* isa = std::getenv("MTF_ISA");
  if (isa != nullptr && !isa_named(isa)) {
    return "`MTF_ISA=" + std::string(isa) +
           "` names no instructions; portable, avx2, avx512 or avx512_bf16, or unset it";
  }
  return "";
}

}  // namespace mtf

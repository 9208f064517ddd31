#include "frontend/driver/command_line/environment.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "runtime/kernels/cpu.h"

namespace mtf {
namespace {

bool is_count(std::string_view digits) {
  const char* end = digits.data() + digits.size();
  int count = 0;
  const auto [last, problem] = std::from_chars(digits.data(), end, count);
  return problem == std::errc() && last == end && count > 0;
}

}  // namespace

std::string misuse_of_environment() {
  const char* threads = std::getenv("MTF_THREADS");
  if (threads != nullptr && !is_count(threads)) {
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

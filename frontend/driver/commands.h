// The commands. Each returns the status to exit with.

#pragma once

#include <span>
#include <string>

#include "frontend/driver/options.h"

namespace mtf {

// What `mtf` does, with the words behind its name.
[[nodiscard]] int command_line(std::span<const std::string> words);

[[nodiscard]] int run_command(const Options& options);
[[nodiscard]] int check_command(const Options& options);
[[nodiscard]] int plan_command(const Options& options);
[[nodiscard]] int cost_command(const Options& options);
[[nodiscard]] int calibrate_command(const Options& options);
[[nodiscard]] int diff_command(const Options& options);
[[nodiscard]] int why_command(const Options& options);
[[nodiscard]] int verify_command(const Options& options);
[[nodiscard]] int ops_command(const Options& options);

}  // namespace mtf

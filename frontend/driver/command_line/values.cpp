// What an option takes, for who gave it something else.

#include <algorithm>
#include <array>
#include <utility>

#include "frontend/driver/command_line/tables.h"
#include "ir/support/diag.h"
#include "ir/support/text/lists.h"

namespace mtf {
namespace {

using Taken = std::pair<std::string_view, std::string_view>;

// Of those that take no choice among words. An option of one name may take other things elsewhere.
constexpr std::array kTaken = std::to_array<Taken>({
    {"-n", "a number of ranks, 1 to 65536"},
    {"--set", "NAME=TEXT, as `--set data=folder`, or several with commas between them"},
    {"--ranks", "numbers of ranks, 1 to 1048576, with commas between them"},
    {"--axes", "1 to 4"},
    {"--memory", "an amount of memory, as 16GiB or 500MB"},
    {"--budget", "a time of a day at most, as 10s or 500ms"},
    {"--explain", "a rule, as \"batch->rows\""},
    {"--scale", "a dim, or one and how much of it a rank has, as `batch=16`"},
    {"--rank", "the number of a rank, from 0 on"},
    {"--width", "a number of columns, 40 or more"},
    {"--steps", "a range of steps, as 10..20, which is without 20"},
    {"--metrics", "x.jsonl, x.csv or a folder x/"},
    {"--plot", "a file x.svg"},
    {"--max-memory", "a number of MiB, 1 or more"},
    {"--timeout", "a number of seconds, 1 to 1000000000"},
    {"--hang-timeout", "a number of seconds, 1 to 1000000000"},
    {"--seed", "a whole number, 0 or more"},
    {"--precision", "bf16, f16 or f32, or as \"bf16,gradients=bf16\" that of gradients, too"},
    {"--over",
     "none, or some of rules, params, lets, rest, gather, recompute and infer, with commas "
     "between them"},
});

}  // namespace

bool are_settings(std::string_view text) {
  const std::vector<std::string_view> parts = pieces_of(text, ',');
  return !parts.empty() && std::ranges::all_of(parts, [](std::string_view part) {
    const std::size_t equals = part.find('=');
    return equals != std::string_view::npos && equals > 0;
  });
}

std::string misfit_text(const OptionDef& option, std::string_view value) {
  const std::string_view name = option.name.empty() ? option.letter : option.name;
  const std::vector<std::string_view> words = pieces_of(option.choices, ' ');
  const std::vector<std::string> choices(words.begin(), words.end());
  const auto* const known = std::ranges::find(kTaken, name, &Taken::first);
  const std::string taken = known != kTaken.end() ? std::string(known->second)
                            : !choices.empty()    ? alternatives(choices)
                                                  : "a value, " + std::string(option.value);
  return in_backticks(name) + " takes " + taken + ", " +
         (value.empty() ? "and was given nothing" : "not " + in_backticks(value)) +
         (name == "-n" && value == "p" ? "; what mpirun calls `-np 4` is `-n 4`" : "") +
         did_you_mean(value, choices);
}

}  // namespace mtf

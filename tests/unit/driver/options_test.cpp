// The command line.

#include "frontend/driver/options.h"

#include <catch2/catch.hpp>

namespace mtf {
namespace {

using Words = std::vector<std::string>;

Options parsed(const Words& words) {
  const std::variant<Options, Answer> result = parse_options(words);
  REQUIRE(std::holds_alternative<Options>(result));
  return std::get<Options>(result);
}

Answer answer(const Words& words) {
  const std::variant<Options, Answer> result = parse_options(words);
  REQUIRE(std::holds_alternative<Answer>(result));
  return std::get<Answer>(result);
}

}  // namespace

TEST_CASE("a file alone is run") {
  const Options options = parsed({"a.mtf", "--layout", "both"});
  CHECK(options.command == Command::kRun);
  CHECK(options.file == "a.mtf");
  CHECK(options.layout == "both");
  CHECK(parsed({"--layout=both", "a.mtf"}).layout == "both");
}

TEST_CASE("options and words of a command come in any order") {
  const Options options = parsed({"plan", "--rank", "3", "a.mtf", "--json", "step"});
  CHECK(options.command == Command::kPlan);
  CHECK(options.name == "step");
  CHECK(options.rank == 3);
  CHECK(options.json);
}

TEST_CASE("a diff takes a file, two layouts and an entry") {
  const Options options = parsed({"diff", "a.mtf", "x", "--json", "y", "step"});
  CHECK(options.layouts == Words{"x", "y"});
  CHECK(options.name == "step");
  CHECK(parsed({"diff", "a.mtf", "x", "y"}).name.empty());
  CHECK(answer({"diff", "a.mtf", "x"}).status == kUsageError);
}

TEST_CASE("a misspelt command or option gets a suggestion") {
  CHECK(answer({"chek", "a.mtf"}).text == "mtf: no command `chek`; did you mean `check`?\n");
  CHECK(answer({"run", "a.mtf", "--layot", "x"}).text ==
        "mtf: run: no option `--layot`; did you mean `--layout`?\n");
  CHECK(answer({"run", "a.mtf", "--layot", "x"}).status == kUsageError);
}

TEST_CASE("an option belongs to the commands that read it") {
  CHECK(answer({"run", "a.mtf", "--rank", "1"}).status == kUsageError);
  CHECK(answer({"ops", "--json"}).status == kUsageError);
}

TEST_CASE("values are checked") {
  CHECK(answer({"run", "a.mtf", "-n", "0"}).status == kUsageError);
  CHECK(answer({"run", "a.mtf", "-n", "4x"}).status == kUsageError);
  CHECK(answer({"run", "a.mtf", "-n"}).status == kUsageError);
  CHECK(answer({"check", "a.mtf", "--emit", "asm"}).status == kUsageError);
  CHECK(answer({"run", "a.mtf", "--exact", "--fast"}).status == kUsageError);
  CHECK(answer({"run", "a.mtf", "b.mtf"}).status == kUsageError);
  CHECK(parsed({"check", "a.mtf", "--emit", "spmd"}).emit == Emit::kSpmd);
}

TEST_CASE("help is an answer, nothing is an error") {
  CHECK(answer({"--help"}).status == kDone);
  CHECK(answer({"plan", "--help"}).status == kDone);
  CHECK(answer({}).status == kUsageError);
  CHECK(answer({"run"}).status == kUsageError);
  CHECK(answer({"search", "a.mtf"}).text == "mtf: `mtf search` is not built yet\n");
}

}  // namespace mtf

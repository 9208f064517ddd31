// The command line.

#include "frontend/driver/options.h"

#include <random>

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

TEST_CASE("amounts have units") {
  CHECK(parsed({"search", "a.mtf", "--budget", "500ms"}).search.budget == 0.5);
  CHECK(parsed({"search", "a.mtf", "--budget", "2 min"}).search.budget == 120);
  CHECK(parsed({"search", "a.mtf", "--budget", "3"}).search.budget == 3);
  CHECK(parsed({"search", "a.mtf", "--memory", "2 KiB"}).search.memory == 2048);
  for (const char* wrong : {"10x", "0ms", "nan", "ms", "-1s"}) {
    CHECK(answer({"search", "a.mtf", "--budget", wrong}).status == kUsageError);
  }
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
  CHECK(answer({"check", "a.mtf", "--rank=1"}).text ==
        "mtf: check: no option `--rank`; it is one of `mtf plan`, `mtf show`; those of the "
        "program stand behind `--`\n");
}

TEST_CASE("every command takes --color") {
  for (const char* command : {"ops", "doctor", "calibrate", "man"}) {
    CHECK(parsed({command, "--color", "never"}).color == ColorChoice::kNever);
  }
  CHECK(parsed({"watch", "m.jsonl", "--color=always"}).color == ColorChoice::kAlways);
  CHECK(answer({"ops", "--color", "sometimes"}).status == kUsageError);
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

TEST_CASE("an empty value is one, a flag has none") {
  CHECK(parsed({"run", "--rules=", "a.mtf"}).rules == " ");
  CHECK(parsed({"run", "--rules", "", "a.mtf"}).rules == " ");
  CHECK(answer({"run", "--fast=yes", "a.mtf"}).text ==
        "mtf: run: `--fast` takes no value: sums in any order\n");
  CHECK(answer({"run", "a.mtf", "--seed"}).text ==
        "mtf: run: `--seed` takes a value: seed of all random numbers\n");
}

TEST_CASE("of an option given twice the last one counts, settings add up") {
  const Options options =
      parsed({"run", "--seed", "1", "a.mtf", "--set", "x=1", "--seed=2", "--set", "y=a=b"});
  CHECK(options.seed == 2);
  CHECK(options.settings == std::vector<std::string>{"x=1", "y=a=b"});
  CHECK(answer({"run", "a.mtf", "--seed", "1x", "--seed", "2"}).status == kUsageError);
}

TEST_CASE("behind the file and two dashes stand the program's own options") {
  const Options options =
      parsed({"run", "a.mtf", "--seed", "2", "--set", "x=1,z=2", "-n", "4", "--", "--width", "512",
              "--lr=-0.5", "--deep", "--name", "a b,c"});
  CHECK(options.settings == std::vector<std::string>{"x=1", "z=2", "--width=512", "--lr=-0.5",
                                                     "--deep", "--name=a b,c"});
  CHECK(options.words == std::vector<std::string>{"run", "a.mtf", "--seed", "2", "--set", "x=1,z=2",
                                                  "--", "--width", "512", "--lr=-0.5", "--deep",
                                                  "--name", "a b,c"});
  CHECK(parsed({"a.mtf", "--", "--lr", "-0.5"}).settings == std::vector<std::string>{"--lr=-0.5"});
  CHECK(parsed({"plan", "a.mtf", "step", "--", "--x", "1"}).settings ==
        std::vector<std::string>{"--x=1"});
  CHECK(parsed({"a.mtf", "--set", "x=a\nb", "--", "--y", "c\nd"}).settings ==
        std::vector<std::string>{"x=a\nb", "--y=c\nd"});
  CHECK(answer({"run", "a.mtf", "--", "--x", "1", "2"})
            .text.starts_with("mtf: run: `2` is the value of no option"));
}

TEST_CASE("behind two dashes there are words alone") {
  CHECK(parsed({"run", "--", "-odd.mtf"}).file == "-odd.mtf");
  CHECK(parsed({"plan", "--fast", "--", "a.mtf", "--fast"}).name == "--fast");
  CHECK(answer({"run", "--", "a.mtf", "--fast"}).text ==
        "mtf: run: `--fast` is one word too many; no options may follow `--`\n");
}

TEST_CASE("letters share a dash, and may touch their value") {
  const Options options = parsed({"-vn4", "a.mtf"});
  CHECK(options.verbose);
  CHECK(options.ranks == 4);
  CHECK(answer({"run", "a.mtf", "-vq"}).text ==
        "mtf: run: no option `-q`; `mtf run --help` lists them\n");
}

TEST_CASE("ranks are started with all words but their number") {
  CHECK(parsed({"a.mtf", "-n", "2", "--set=x=1", "--rules", "", "-v", "--set", "y=2"}).words ==
        Words{"run", "a.mtf", "--set", "x=1", "--rules", "", "--verbose", "--set", "y=2"});
  CHECK(parsed({"run", "-n2", "--", "-a.mtf"}).words == Words{"run", "--", "-a.mtf"});
}

TEST_CASE("names of commands are words like others where no command is expected") {
  CHECK(parsed({"plan", "run", "check"}).name == "check");
  CHECK(answer({"--fast", "plan", "a.mtf"}).text ==
        "mtf: run: `a.mtf` is one word too many; a command comes first: `mtf plan FILE [ENTRY]`\n");
}

TEST_CASE("wrong usage is an object where one is asked for") {
  for (const Words& words : {Words{"run", "--layot", "x", "--json"}, Words{"chek", "a", "--json"},
                             Words{"run", "--format", "jsonl"}, Words{"run", "--format=json"}}) {
    const Answer wrong = answer(words);
    CHECK(wrong.json);
    CHECK(wrong.status == kUsageError);
    CHECK(wrong.text.starts_with(R"({"diagnostics":[{"file":"")"));
    CHECK(wrong.text.find(R"("slug":"usage")") != std::string::npos);
  }
  CHECK_FALSE(answer({"run", "--", "--json", "x"}).json);
}

TEST_CASE("whatever the words, there are options or an answer") {
  std::mt19937 random(1);
  const Words pieces = {"run",      "plan",    "-",   "--",     "---", "--=",  "-n", "-n=2",
                        "--json",   "--rules", "=",   "",       "a",   ":1",   "{",  "[x]",
                        "-1",       "--set",   "a=b", "-vv",    "ops", "diff", "-h", "\n",
                        "--help=1", "\xff",    "%%",  "--rank", "++"};
  for (int i = 0; i < 20000; ++i) {
    Words words;
    for (std::size_t length = random() % 6; words.size() < length;) {
      words.push_back(pieces[random() % pieces.size()]);
    }
    const std::variant<Options, Answer> result = parse_options(words);
    const auto* wrong = std::get_if<Answer>(&result);
    CHECK((wrong == nullptr || !wrong->text.empty()));
  }
}

TEST_CASE("a format of the output is text, an object, or objects") {
  CHECK_FALSE(parsed({"run", "a.mtf", "--format", "text"}).json);
  CHECK(parsed({"run", "a.mtf", "--format=json"}).json);
  const Options options = parsed({"run", "a.mtf", "--format", "jsonl"});
  CHECK(options.json);
  CHECK(options.json_lines);
  CHECK(answer({"run", "a.mtf", "--format", "xml"}).status == kUsageError);
}

TEST_CASE("help is an answer, nothing is an error") {
  CHECK(answer({"--help"}).status == kDone);
  CHECK(answer({"plan", "--help"}).status == kDone);
  CHECK(answer({"help", "plan"}).text == answer({"plan", "a", "b", "c", "-h"}).text);
  CHECK(answer({"help", "plam"}).text == "mtf: no command `plam`; did you mean `plan`?\n");
  CHECK(answer({}).status == kUsageError);
  CHECK(answer({"run"}).status == kUsageError);
}

}  // namespace mtf

// Plain files: tables of numbers are read as they are written, and lines are appended whole.

#include "stdlib/ops/source/csv.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "ir/support/file.h"

namespace mtf::tests {
namespace {

namespace fs = std::filesystem;

class TextFile {
 public:
  explicit TextFile(const std::string& text = {})
      : path_(fs::temp_directory_path() / ("mtf_plain_" + std::to_string(::getpid()))) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TextFile() { fs::remove(path_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  TextFile(TextFile&&) = delete;
  TextFile& operator=(TextFile&&) = delete;

  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  fs::path path_;
};

std::string problem_of(std::string_view text, CsvForm form = {}) {
  return read_csv(text, form).problem;
}

std::vector<double> numbers_of(std::string_view text, CsvForm form = {}, CsvRows rows = {}) {
  std::vector<double> all;
  const CsvTable table = read_csv(text, form, rows, [&](const CsvRow& row) {
    all.insert(all.end(), row.numbers.begin(), row.numbers.end());
  });
  CHECK(table.problem.empty());
  return all;
}

}  // namespace

const std::string kNames = "; names have to be numbers here, as 0, 1 and 2 of three classes";

TEST_CASE("tables are read with spaces, quotes, blank lines and the ends of other systems") {
  const std::string_view text = "\xEF\xBB\xBF 1, \"2.5\"\r\n\n+3,-4e1 \n";
  const CsvTable table = read_csv(text, {});
  CHECK(table.problem.empty());
  CHECK(table.rows == 2);
  CHECK(table.columns == 2);
  CHECK(numbers_of(text) == std::vector<double>{1, 2.5, 3, -40});
  CHECK(numbers_of("a;b\n1;2", {.header = true, .separator = ';'}) == std::vector<double>{1, 2});
  CHECK(std::isnan(numbers_of("nan").front()));
}

TEST_CASE("within quotes a separator is text") {
  const std::string more = "; a number has nothing between its digits";
  CHECK(problem_of("2,\"1,000\"") == ": line 1 (row 0), column 2: `1,000` is not a number" + more);
  CHECK(problem_of("1;\"a;\"\"b\"\";c\";3", {.separator = ';'}) ==
        ": line 1 (row 0), column 2: `a;\"\"b\"\";c` is not a number" + kNames);
  const std::string open = "; quotes stand around a whole cell, which ends in its line";
  CHECK(problem_of("1,\"2,3") == ": line 1 (row 0), column 2: `\"2` is not a number" + open);
  CHECK(problem_of("1,\"2\n3\"") == ": line 1 (row 0), column 2: `\"2` is not a number" + open);
  CHECK(problem_of("1,'2'") ==
        ": line 1 (row 0), column 2: `'2'` is not a number; a number stands "
        "alone, or between two `\"`");
}

TEST_CASE("words for a number that is missing are told apart from names") {
  for (const std::string word : {"NA", "n/a", "\"NULL\"", "?"}) {
    INFO(word);
    CHECK(problem_of("1," + word)
              .ends_with(" is not a number; `nan` stands for a number that is "
                         "missing"));
  }
}

TEST_CASE("a remark in a table is called one") {
  const std::string more =
      " is not a number; a table has no remarks; its header alone may begin with `#`";
  CHECK(problem_of("# by me\n# x,y\n1,2\n") == ": line 1 (row 0), column 1: `# by me`" + more);
  CHECK(problem_of("1,2\n # end\n") == ": line 2 (row 1), column 1: `# end`" + more);
  CHECK(problem_of("#a,b\n1,2\n").ends_with("say `header = true`"));
  CHECK(numbers_of("#a,b\n1,2\n", {.header = true}) == std::vector<double>{1, 2});
}

TEST_CASE("names in a header may hold what is in quotes, ends of lines too") {
  const CsvForm form{.header = true};
  for (const std::string_view header :
       {"\n \n\"width,\n in \"\"mm\"\"\",\"b\"\r\n", "6\" pipe, 8\" pipe \n", "6\"\" pipe,8\"\n",
        "a, \"b\n\nc\" \n", "\"\",\"\"\n", "\"\n\"\"\n\",b\n"}) {
    INFO(header);
    CHECK(numbers_of(std::string(header) + "1,2\n3,4\n", form) == std::vector<double>{1, 2, 3, 4});
  }
  CHECK(problem_of("\"a\nb\",c\n1,2\n3,x\n", form) ==
        ": line 4 (row 1), column 2: `x` is not a number" + kNames);
  CHECK(problem_of("\na,\"b\n1,2\n", form) ==
        ": line 2: a name in quotes has no end, and so the header none");
  CHECK(problem_of("a,b", form) == "has no row below its header");
  CHECK(problem_of("\n\n", form) == "has no row below its header");
}

TEST_CASE("a header has a name for each column") {
  const std::string way_out =
      "; name each column once, or take that line out and leave `header = true` away";
  const auto header_of = [](std::string_view text, char separator = ',') {
    return problem_of(text, {.header = true, .separator = separator});
  };
  CHECK(header_of("\na,b\n\n1,2,3\n") ==
        ": line 2: the header has 2 names, but line 4 (row 0) has 3 columns" + way_out);
  CHECK(header_of("a,b\n1\n") ==
        ": line 1: the header has 2 names, but line 2 (row 0) has 1 column" + way_out);
  CHECK(header_of("age, body height\n1,2,3\n") ==
        ": line 1: the header has 2 names, but line 2 (row 0) has 3 columns" + way_out);
  CHECK(header_of("a:b\n1:2:3\n", ':') ==
        ": line 1: the header has 2 names, but line 2 (row 0) has 3 columns" + way_out);
  CHECK(read_csv("a,b\n1,2,3\n4,5,6\n", {.header = true}, {.first = 1, .end = 2}).problem ==
        ": line 1: the header has 2 names, but line 3 (row 1) has 3 columns" + way_out);
  CHECK(header_of("\ta\tb\n0\t1\t2\n", '\t').empty());  // a name may be empty
  CHECK(header_of("a;b\n1,2\n").empty());
  CHECK(header_of("# x y\n1 2\n", ' ').empty());
  CHECK(header_of("#  x y\n0 1 2\n", ' ').empty());
}

TEST_CASE("a rank looks at the rows of its slice alone") {
  const std::string_view text = "wrong,\n\n3,4\n5,6\nwrong\n";
  CHECK(numbers_of(text, {}, {.first = 1, .end = 3}) == std::vector<double>{3, 4, 5, 6});
  CHECK(numbers_of(text, {.header = true}, {.first = 1, .end = 2}) == std::vector<double>{5, 6});
  CHECK(read_csv(text, {}, {.first = 2, .end = 9}).problem ==
        ": line 5 (row 3), column 1: `wrong` is not a number" + kNames);
}

TEST_CASE("a table that is none is told with line, row and column") {
  CHECK(problem_of("1,2\n3,x") == ": line 2 (row 1), column 2: `x` is not a number" + kNames);
  CHECK(problem_of("1,+-2") == ": line 1 (row 0), column 2: `+-2` is not a number" + kNames);
  CHECK(
      problem_of("a,b\n1,2") ==
      ": line 1 (row 0), column 1: `a` is not a number; if the line names the columns, say `header "
      "= true`");
  CHECK(problem_of("1,2\n\n3") ==
        ": line 3 (row 1), column 1: the row ends here; those above have 2 columns, and `nan` "
        "stands for a number that is missing");
  CHECK(
      problem_of("1,2\n3,4,5") ==
      ": line 2 (row 1), column 3: the row ends here; those above have 2 columns, and a separator "
      "within a cell stands in quotes");
  CHECK(problem_of("1,2,\n3,4,") ==
        ": line 1 (row 0), column 3: the cell is empty; `nan` stands for a number that is missing, "
        "and a line ends without a separator");
  CHECK(problem_of("1,,2") ==
        ": line 1 (row 0), column 2: the cell is empty; `nan` stands for a number "
        "that is missing");
  CHECK(problem_of(",a\n0,1") ==
        ": line 1 (row 0), column 1: the cell is empty; if the line names the "
        "columns, say `header = true`");
  CHECK(problem_of("1\n1e999") ==
        ": line 2 (row 1), column 1: `1e999` is beyond the range of numbers");
  CHECK(problem_of("1;2\n3;4") ==
        ": line 1 (row 0), column 1: `1;2` is not a number; if the columns stand apart so, say "
        "`separator = \";\"`");
  CHECK(problem_of("") == "has no row");
  CHECK(problem_of("a,b\n", {.header = true}) == "has no row below its header");
}

TEST_CASE("a number that the dtype of the table cannot hold is told") {
  const auto first = [](std::string_view cell, DType dtype) {
    const std::string problem = problem_of(cell, {.dtype = dtype});
    return problem.substr(std::min(problem.size(), problem.find('`')));
  };
  const auto with = [](const std::string& dtype) { return "; `dtype = " + dtype + "` reads it"; };
  CHECK(first("1.5", DType::kI32) == "`1.5` is no whole number, as i32 has them" + with("f32"));
  CHECK(first("nan", DType::kU8) == "`nan` is no whole number, as u8 has them" + with("f32"));
  CHECK(first("256", DType::kU8) == "`256` is beyond the range of u8" + with("i64"));
  CHECK(first("2", DType::kBool) == "`2` is beyond the range of bool" + with("i64"));
  CHECK(problem_of("1,,2", {.dtype = DType::kI32}) ==
        ": line 1 (row 0), column 2: the cell is empty; floats have `nan` for a number that is "
        "missing, and i32 has none");
  CHECK(first("1e39", DType::kF32) == "`1e39` is beyond the range of f32" + with("f64"));
  CHECK(first("9223372036854775808", DType::kI64) ==
        "`9223372036854775808` is beyond the range of i64" + with("f64") + ", rounded");
  CHECK(first("9007199254740993.0", DType::kI64) ==
        "`9007199254740993.0` is read as a float, which has 53 bits; without point and exponent it "
        "is exact");
  CHECK(first("1e3", DType::kI64).empty());
  CHECK(first("1e-400", DType::kF32).empty());
  CHECK(first("1e999x", DType::kF32).starts_with("`1e999x` is not a number"));
  CHECK(first("-inf", DType::kF16).empty());
  CHECK(first("16777217", DType::kF32).empty());
}

TEST_CASE("whole numbers of 64 bits are read exactly") {
  const std::string_view text =
      "9007199254740993,\"+9223372036854775807\"\n-9223372036854775808, 2.0";
  std::vector<std::int64_t> all;
  const CsvTable table = read_csv(text, {.dtype = DType::kI64}, {}, [&](const CsvRow& row) {
    all.insert(all.end(), row.whole.begin(), row.whole.end());
  });
  CHECK(table.problem.empty());
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  CHECK(all == std::vector<std::int64_t>{9007199254740993, kMost, -kMost - 1, 2});
}

TEST_CASE("a line is appended behind whole lines") {
  const TextFile file("an open line");
  CHECK(append_line(file.path(), "first").empty());
  CHECK(append_line(file.path(), "").empty());
  CHECK(file.text() == "an open line\nfirst\n\n");
  fs::remove(file.path());
  CHECK(append_line(file.path(), "made").empty());
  CHECK(file.text() == "made\n");
}

TEST_CASE("what cannot be appended to says why, and stays") {
  CHECK(append_line("/no/such/folder/file", "x") ==
        "there is no folder `/no/such/folder`; `mkdir -p /no/such/folder` makes it");
  CHECK(append_line(fs::temp_directory_path(), "x") == "Is a directory");
  CHECK(append_line("/dev/null", "x") == "it is not a file");
  const std::string pipe = TextFile().path() + "_pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(append_line(pipe, "x") == "it is not a file");
  CHECK(PlainFile(pipe).problem() == "is not a file");
  fs::remove(pipe);
}

}  // namespace mtf::tests

// .npy files: what is written is read again, slices are read in part, and broken files are refused.

#include "stdlib/ops/source/npy.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "ir/kernel.h"
#include "ir/support/file.h"
#include "stdlib/ops/source/npy_header.h"
#include "tests/unit/stdlib/ops/evaluate.h"

namespace mtf::tests {
namespace {

// A file name in a folder of this test's own, removed with it.
class Folder {
 public:
  Folder() {
    path_ = std::filesystem::temp_directory_path() / ("mtf_npy_" + std::to_string(::getpid()));
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }
  [[nodiscard]] std::string with(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

std::string npy(const std::string& dict, const std::string& data, char version = 1) {
  std::string text("\x93NUMPY");
  text += version;
  text += '\0';
  text += static_cast<char>(dict.size() & 0xFFU);
  text += static_cast<char>(dict.size() >> 8U);
  if (version > 1) {
    text += std::string(2, '\0');
  }
  return text + dict + data;
}

std::string problem_of(const std::string& path) {
  return NpyFile(path).info().problem;
}

TEST_CASE("a tensor that is written is read again, whatever its dtype") {
  const Folder folder;
  const std::string path = folder.file("x.npy");
  const std::vector<double> numbers = {0, 1, 1, 0, 1, 1};
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kI32, DType::kI64, DType::kBool,
                            DType::kU8, DType::kBF16, DType::kF16, DType::kI8, DType::kI16}) {
    const TensorType type{.dtype = dtype, .shape = shape({{"a", 2}, {"b", 3}})};
    Sketch s;
    s.call("write", {s.input(type, numbers)}, args("path", path));
    REQUIRE_FALSE(s.run().failure);
    Sketch t;
    const ValueId x = t.call("load", {}, args("path", path, "shape", type.shape));
    CHECK(t.type_of(x) == type);
    CHECK(t.numbers(x) == numbers);
    const ValueId y =
        t.call("load", {}, args("path", path, "shape", type.shape, "dtype", DType::kF64));
    CHECK(t.type_of(y).dtype == DType::kF64);
    CHECK(t.numbers(y) == numbers);
  }
  CHECK(std::distance(
            std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()), {}) ==
        1);  // nothing temporary stays
}

TEST_CASE("the header is NumPy's") {
  const Folder folder;
  const std::string path = folder.file("x.npy");
  const std::vector<std::byte> data(12);
  CHECK(write_npy(path, f32({{"a", 3}}), data).empty());
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  CHECK(bytes.size() == 128 + 12);
  CHECK(bytes.substr(10, 60).starts_with(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }  "));
  const std::string none = folder.file("none");
  CHECK(write_npy(none + "/x.npy", f32({}), data) ==
        "there is no folder `" + none + "`; `mkdir -p " + none + "` makes it");
}

TEST_CASE("versions 1 to 3 of the format are read") {
  const Folder folder;
  for (const char version : {'\1', '\2', '\3'}) {
    const std::string path =
        folder.with("v.npy", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n",
                                 std::string("\7\0\0\0\1\0\0\0", 8), version));
    Sketch s;
    const ValueId x = s.call("load", {}, args("path", path, "shape", shape({{"a", 2}})));
    CHECK(s.numbers(x) == std::vector<double>{7, 1});
  }
}

TEST_CASE("a file that does not fit is an error with both shapes") {
  const Folder folder;
  const std::string path = folder.file("x.npy");
  REQUIRE(write_npy(path, f32({{"a", 3}}), std::vector<std::byte>(12)).empty());
  Sketch s;
  const auto error = [&](const std::string& file, const Shape& to) {
    return s.error_of("load", {}, args("path", file, "shape", to));
  };
  CHECK(error(path, shape({{"row", 4}})) == "`" + path + "` holds [3], and not [row 4] [file]");
  CHECK(error(path, shape({{"row", 3}, {"col", 1}})) ==
        "`" + path + "` holds [3], and not [row 3, col 1] [file]");
  const std::string table = folder.file("table.npy");
  REQUIRE(write_npy(table, f32({{"a", 3}, {"b", 1}}), std::vector<std::byte>(12)).empty());
  CHECK(error(table, shape({{"col", 1}, {"row", 3}})) ==
        "`" + table +
            "` holds [3, 1], and not [col 1, row 3]; in its order the dims are [row 3, col 1] "
            "[file]");
  CHECK(error(folder.file("none.npy"), shape({})) ==
        "`" + folder.file("none.npy") + "` cannot be opened: No such file or directory [file]");
}

TEST_CASE("a file that is still to be written can be planned for") {
  const Folder folder;
  const std::string path = folder.file("later.npy");
  Sketch s;
  const ValueId x =
      s.call("load", {}, args("path", path, "shape", shape({{"a", 1}}), "dtype", DType::kF32));
  CHECK(s.type_of(x) == f32({{"a", 1}}));
  REQUIRE(s.run().failure);
  CHECK(s.run().failure->first == DiagKind::kFile);
  REQUIRE(write_npy(path, f32({{"a", 1}}), tensor_of(f32({{"a", 1}}), std::vector{2.5}).data) ==
          "");
  CHECK(s.numbers(x) == std::vector<double>{2.5});
}

TEST_CASE("bools of other bytes than 0 and 1 are bools") {
  const Folder folder;
  const std::string path =
      folder.with("b.npy", npy("{'descr': '|b1', 'fortran_order': False, 'shape': (600,), }\n",
                               std::string(597, '\0') + std::string("\1\2\xff", 3)));
  const Shape line = shape({{"a", 600}});
  Sketch s;
  for (const DType dtype : {DType::kBool, DType::kI32, DType::kF64}) {
    const ValueId x = s.call("load", {}, args("path", path, "shape", line, "dtype", dtype));
    const std::vector<double> numbers = s.numbers(x);
    CHECK(std::vector(numbers.end() - 4, numbers.end()) == std::vector<double>{0, 1, 1, 1});
  }
}

TEST_CASE("unsigned numbers are read as integers that have them all, or named") {
  const Folder folder;
  const auto file_of = [&](const std::string& descr, const auto& numbers) {
    const std::string data(reinterpret_cast<const char*>(numbers.data()),
                           numbers.size() * sizeof(numbers[0]));
    return folder.with("u.npy",
                       npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" +
                               std::to_string(numbers.size()) + ",), }",
                           data));
  };
  const auto read = [](const NpyFile& file, std::int64_t first, auto& out) {
    return file.read(first, std::as_writable_bytes(std::span(out)));
  };
  {
    const NpyFile file(file_of("<u2", std::vector<std::uint16_t>{7, 50256, 65535}));
    CHECK(file.info().dtype == DType::kI32);
    std::vector<std::int32_t> tokens(2);
    CHECK(read(file, 1, tokens) == "");
    CHECK(tokens == std::vector<std::int32_t>{50256, 65535});
    CHECK(read(file, 2, tokens) == "ended while it was read");
  }
  std::vector<std::int64_t> numbers(2);
  {
    const NpyFile file(file_of("<u4", std::vector<std::uint32_t>{0, 4294967295}));
    CHECK(file.info().dtype == DType::kI64);
    CHECK(read(file, 0, numbers) == "");
    CHECK(numbers == std::vector<std::int64_t>{0, 4294967295});
  }
  const NpyFile file(
      file_of("<u8", std::vector<std::uint64_t>{5, 9223372036854775807U, 9223372036854775808U}));
  CHECK(read(file, 0, numbers) == "");
  CHECK(numbers == std::vector<std::int64_t>{5, 9223372036854775807});
  CHECK(read(file, 1, numbers) ==
        "holds 9223372036854775808 as element 2, which is beyond i64; `.astype(\"<f8\")` makes it "
        "readable, rounded");
}

TEST_CASE("files that cannot be read say why") {
  const Folder folder;
  const auto broken = [&](const std::string& dict, const std::string& data = "") {
    return problem_of(folder.with("b.npy", npy(dict, data)));
  };
  const std::string cannot =
      "; what can be read is f32, f64, bf16, f16, i32, i64, i16, i8, u8 and bool, and unsigned "
      "integers";
  CHECK(broken("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }") ==
        "holds `<c8`" + cannot);
  CHECK(broken("{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }") ==
        "holds `<f16`" + cannot + "; `.astype(\"<f8\")` makes it readable, rounded");
  CHECK(broken("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }") ==
        "holds records, and not an array of numbers");
  CHECK(broken("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "12345678") ==
        "is shorter than the [3] elements it announces");
  CHECK(broken("{'descr': '<f4', 'fortran_order': False, "
               "'shape': (9000000000000000000, 9000000000000000000), }") ==
        "is shorter than the [9000000000000000000, 9000000000000000000] elements it announces");
  CHECK(problem_of(folder.with("t.npy", "hello, world, not an array")) == "is not a .npy file");
  CHECK(problem_of(folder.with("e.npy", "")) == "is not a .npy file");
  CHECK(problem_of(folder.with("c.npy", std::string("\x02\0\0\0\0\0\0\0{}", 10))) ==
        "is a checkpoint, which `restore` reads");
  CHECK(problem_of(folder.with("h.npy", std::string("\x93NUMPY\1\0\xff\xff{", 11))) ==
        "ends within its header");
  for (const std::size_t length : {6U, 7U, 8U, 9U}) {
    CHECK(problem_of(folder.with("cut.npy", std::string("\x93NUMPY\1\0\x76", length))) ==
          "ends within its header");
  }
  CHECK(problem_of(folder.with("v2.npy", std::string("\x93NUMPY\2\0\x76\0", 10))) ==
        "ends within its header");
  CHECK(problem_of(folder.file("")) == "is not a file");
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(problem_of(pipe) == "is not a file");
}

TEST_CASE("of a garbled header the problem says what is expected where, and what is there") {
  const auto garbled = [](const std::string& dict) {
    constexpr std::string_view kBegin = "has a header that cannot be read: ";
    constexpr std::string_view kEnd =
        "; `numpy.save` writes one as `{'descr': '<f4', 'fortran_order': False, 'shape': (4, 8), "
        "}`";
    const std::string problem = parse_npy_dict(dict).problem;
    REQUIRE(problem.starts_with(kBegin));
    REQUIRE(problem.ends_with(kEnd));
    return problem.substr(kBegin.size(), problem.size() - kBegin.size() - kEnd.size());
  };
  const std::string keys = " where `'descr'`, `'fortran_order'` or `'shape'` is expected";
  CHECK(garbled("") == "it ends where `{` is expected");
  CHECK(garbled("gar\x01\xff") == "`gar??` stands where `{` is expected");
  CHECK(garbled("{'descr': '<f4', 'size': (1,)}") == "`'size': (1,)}` stands" + keys);
  CHECK(garbled("{'descr': '<f4', ") == "it ends" + keys);
  CHECK(garbled("{'descr' '<f4'}") == "`'<f4'}` stands where `:` is expected");
  CHECK(garbled("{'descr': <f4, 'shape': (1,)}") ==
        "`<f4, 'shape': (1,)}` stands where a type in quotes, as `'<f4'`, is expected");
  CHECK(garbled("{'fortran_order': Fals, 'shape': (1,), 'descr': '<f4'}") ==
        "`Fals, 'shape': (1,), 'd…` stands where `True` or `False` is expected");
  CHECK(garbled("{'shape': 4, }") == "`4, }` stands where `(`, as of `(4, 8)`, is expected");
  CHECK(garbled("{'shape': (-4,), }") == "`-4,), }` stands where a size is expected");
  CHECK(garbled("{'shape': (4 }") == "`}` stands where `,` or `)` is expected");
  CHECK(garbled("{'shape': (4,) 'descr': '<f4'}") ==
        "`'descr': '<f4'}` stands where `,` or `}` is expected");
  CHECK(garbled("{'descr': '<f4', 'fortran_order': False}") == "it has no `'shape'`");
  CHECK(garbled("{'shape': (4,), 'fortran_order': False}") == "it has no `'descr'`");
  CHECK(garbled("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), } + 1") ==
        "`+ 1` stands where the end is expected");
}

TEST_CASE("no other file is written over, and nobody waits for a reader") {
  const Folder folder;
  const std::vector<std::byte> data(12);
  const std::string notes = folder.with("notes.npy", "a year of notes");
  CHECK(write_npy(notes, f32({{"a", 3}}), data) ==
        "another file is there, which is no .npy file; remove it first, or take another name");
  CHECK(text_of(notes) == "a year of notes");
  CHECK(write_npy(folder.with("empty.npy", ""), f32({{"a", 3}}), data).empty());
  CHECK(write_npy(folder.file("empty.npy"), f32({{"a", 3}}), data).empty());
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(write_npy(pipe, f32({{"a", 3}}), data) == "it is not a file");
}

TEST_CASE("no header can crash the reader") {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n";
  std::mt19937 engine(1);
  for (std::size_t length = 0; length <= good.size(); ++length) {
    static_cast<void>(parse_npy_dict(good.substr(0, length)));
  }
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good;
    for (int change = 0; change < 3; ++change) {
      text[engine() % text.size()] = static_cast<char>(engine());
    }
    static_cast<void>(parse_npy_dict(text));
  }
  CHECK(parse_npy_dict(good).problem.empty());
  CHECK(parse_npy_dict(std::string("{'shape': (") + std::string(5'000, '1') + ")}")
            .problem.starts_with("has a header that cannot be read: `11111111111111111111111…` "
                                 "stands where a size is expected; "));
}

TEST_CASE("a rank reads its own slice") {
  const Folder folder;
  const std::string path = folder.file("x.npy");
  std::vector<double> numbers(4 * 6 * 5);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<double>(i);
  }
  const TensorType type = i32({{"a", 4}, {"b", 6}, {"c", 5}});
  REQUIRE(write_npy(path, type, tensor_of(type, numbers).data).empty());

  Sketch s;
  s.call("load", {}, args("path", path, "shape", type.shape));
  const OpCall call = call_of(s.program(), s.program().last());
  HostTensor out = tensor_of(i32({{"a", 2}, {"b", 3}, {"c", 5}}), std::vector<double>(30));
  class Host final : public KernelHost {
   public:
    void print(std::string_view /*line*/) override {}
    void fail(DiagKind /*kind*/, std::string text) override { FAIL(text); }
    void warn(DiagKind /*kind*/, std::string /*text*/) override {}
    [[nodiscard]] std::uint64_t seed() const override { return 0; }
    [[nodiscard]] std::uint64_t execution() const override { return 0; }
    [[nodiscard]] bool first_rank() const override { return true; }
  } host;
  const IterationSpace space = call.op->space(call);
  const std::vector<LoopShare> shares = {{2, 1}, {2, 0}, {1, 0}};
  call.op->kernel({.call = call,
                   .space = space,
                   .in = {},
                   .out = {.data = out.data.data(),
                           .shape = out.type.shape,
                           .offset = {2, 0, 0},
                           .dtype = DType::kI32},
                   .shares = shares,
                   .ordinal = 0,
                   .exact = true,
                   .host = host});
  const std::vector<double> found = numbers_of(out);
  CHECK(found[0] == 60);
  CHECK(found[14] == 74);
  CHECK(found[15] == 90);
  CHECK(found[29] == 104);
}

}  // namespace
}  // namespace mtf::tests

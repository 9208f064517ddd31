// Checkpoint files: the format, what hostile ones do, and where slices lie in them.

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "ir/support/number.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/json_reader.h"
#include "runtime/checkpoint/place.h"
#include "runtime/checkpoint/read.h"
#include "runtime/checkpoint/safetensors.h"
#include "runtime/checkpoint/slice_place.h"
#include "runtime/checkpoint/write.h"

namespace mtf {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() : path(fs::temp_directory_path() / ("mtf_checkpoint_" + std::to_string(getpid()))) {
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path / name).string(); }

  fs::path path;
};

void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string framed(const std::string& json, const std::string& data) {
  std::string length(8, '\0');
  const std::uint64_t size = json.size();
  std::memcpy(length.data(), &size, 8);
  return length + json + data;
}

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string problem_of(const std::string& json, std::int64_t data) {
  SafetensorsHeader header;
  return read_header(json, data, header);
}

// Two tensors on a mesh, saved; `seed` is of their numbers.
std::string saved(const std::string& path, const Mesh& mesh, const ValueLayout& layout,
                  std::int64_t part_bytes, std::int64_t keep = 0) {
  const auto communicator = simulated_communicator(mesh.ranks());
  BufferPool pool;
  const TensorType type{DType::kF32, Shape({{"p", 6}, {"q", 8}})};
  std::vector<float> numbers(48);
  std::iota(numbers.begin(), numbers.end(), 0.5F);
  const RankTensor tensor =
      scatter(pool, *communicator, mesh, type, layout, std::as_bytes(std::span(numbers)));
  const std::vector<NamedTensor> tensors = {{"b", &tensor}, {"a", &tensor}};
  return write_checkpoint(
      *communicator, mesh, tensors,
      {.path = path, .part_bytes = part_bytes, .keep = keep, .seed = 3, .draws = 8});
}

// Hours from when this was first asked for.
void set_time(const std::string& path, int hours) {
  static const fs::file_time_type start = fs::file_time_type::clock::now();
  fs::last_write_time(path, start + std::chrono::hours(hours));
}

const Mesh kGrid{.name = "m", .axes = {{"x", 2}, {"y", 3}}, .profile = "", .span = {}};

}  // namespace

TEST_CASE("XXH64 gives the numbers of its specification") {
  CHECK(hex16(xxh64({})) == "ef46db3751d8e999");
  CHECK(hex16(xxh64(bytes("a"))) == "d24ec4f1a98c6e5b");
  CHECK(hex16(xxh64(bytes("abc"))) == "44bc2cf5ad770999");
  CHECK(hex16(xxh64(bytes("The quick brown fox jumps over the lazy dog"))) == "0b242d361fda71bc");
}

TEST_CASE("JSON is read with its escapes, and refused where it is none") {
  JsonReader reader(R"( "a\u00e9\ud83d\ude00\n\"b" )");
  CHECK(reader.string() == "a\u00e9\U0001F600\n\"b");
  CHECK(reader.at_end());
  CHECK(JsonReader(json_string("\x01 \"\\ \u00e9")).string() == "\x01 \"\\ \u00e9");
  for (const char* wrong : {"\"a", R"("\ud800")", R"("\x")", "{\"a\":}", "[1,]", "nul", ""}) {
    CHECK_FALSE(JsonReader(wrong).skip());
  }
  CHECK_FALSE(JsonReader(std::string(100'000, '[')).skip());
  CHECK(JsonReader("{\"a\": [1, -2.5e3, {\"b\": null}], \"c\": true}").skip());
  CHECK_FALSE(JsonReader("-1").whole());
  CHECK_FALSE(JsonReader("1e3").whole());
  CHECK_FALSE(JsonReader("99999999999999999999").whole());
}

TEST_CASE("a header has to agree with itself and with the file") {
  const std::string a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  CHECK(problem_of("{" + a + "}", 8).empty());
  CHECK(problem_of("{}", 0).empty());
  CHECK(problem_of("{" + a + "}", 4).starts_with("is torn"));
  CHECK(problem_of("{" + a + "}", 12).starts_with("has 4 bytes behind"));
  CHECK(problem_of("{" + a + "}", 9) == "has 1 byte behind its last tensor that is of none");
  CHECK(problem_of("{" + a + "," + a + "}", 8).starts_with("names `a` twice"));
  CHECK(problem_of(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8)
            .find("not those of its shape") != std::string::npos);
  CHECK(
      problem_of(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0)
          .find("not those of its shape") != std::string::npos);
  CHECK(problem_of(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8)
            .find("begins at byte 4") != std::string::npos);
  CHECK(problem_of(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}})", 0) ==
        "has a header that cannot be read, at byte 29 of it");
  CHECK(problem_of(R"({"a":{"dtype":"F32","data_offsets":[0,0]}})", 0) ==
        "has a header that cannot be read, at byte 41 of it");
}

TEST_CASE("a slice's runs are its elements, whatever range is asked for") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Dim> dims;
    Slice slice;
    const int rank = static_cast<int>(random() % 4);
    for (int d = 0; d < rank; ++d) {
      const auto size = static_cast<std::int64_t>(1 + random() % 5);
      dims.push_back({"d" + std::to_string(d), size});
      slice.offset.push_back(static_cast<std::int64_t>(random() % static_cast<unsigned>(size)));
      slice.extent.push_back(1 + static_cast<std::int64_t>(
                                     random() % static_cast<unsigned>(size - slice.offset.back())));
    }
    const TensorType type{DType::kI16, Shape(dims)};
    std::vector<std::int64_t> expected(static_cast<std::size_t>(type.bytes()), -1);
    for (std::int64_t i = 0; i < volume_of(slice); ++i) {
      std::int64_t rest = i;
      std::int64_t flat = 0;
      std::int64_t stride = 1;
      for (std::size_t d = dims.size(); d-- > 0;) {
        flat += (slice.offset[d] + rest % slice.extent[d]) * stride;
        rest /= slice.extent[d];
        stride *= dims[d].size;
      }
      expected[static_cast<std::size_t>(2 * flat)] = 2 * i;
      expected[static_cast<std::size_t>(2 * flat + 1)] = 2 * i + 1;
    }
    const SlicePlace place(type.shape, 2, slice);
    const auto begin = static_cast<std::int64_t>(random() % expected.size());
    const auto end = begin + static_cast<std::int64_t>(random() % expected.size());
    std::vector<std::int64_t> found(expected.size(), -1);
    place.runs(begin, end, [&](std::int64_t at, std::int64_t in_slice, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        found[static_cast<std::size_t>(at + i)] = in_slice + i;
      }
    });
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      REQUIRE(found[i] == (at >= begin && at < end ? expected[i] : -1));
    }
  }
}

TEST_CASE("a file does not depend on layouts, and gives every layout its slices") {
  const Folder folder;
  const ValueLayout none{.dims = {{}, {}}, .partial = {}};
  const std::vector<ValueLayout> layouts = {
      none,
      {.dims = {{0}, {}}, .partial = {}},
      {.dims = {{1}, {0}}, .partial = {}},
      {.dims = {{}, {0}}, .partial = {}, .where = {{.axis = 1, .same = std::nullopt, .at = 2}}}};
  REQUIRE(saved(folder.file("first"), kGrid, none, 1'000'000).empty());
  for (const ValueLayout& layout : layouts) {
    REQUIRE(saved(folder.file("other"), kGrid, layout, 1'000'000).empty());
    CHECK(text_of(folder.file("other")) == text_of(folder.file("first")));
    const CheckpointFile file(folder.file("first"));
    REQUIRE(file.problem().empty());
    CHECK(file.notes()->draws == 8);
    const auto communicator = simulated_communicator(6);
    BufferPool pool;
    const TensorType type{DType::kF32, Shape({{"p", 6}, {"q", 8}})};
    RankTensor tensor = make_tensor(pool, *communicator, kGrid, type, layout);
    REQUIRE(file.read("a", *communicator, kGrid, nullptr, tensor).empty());
    std::vector<float> numbers(48);
    std::iota(numbers.begin(), numbers.end(), 0.5F);
    const std::vector<std::byte> whole = gather(*communicator, kGrid, tensor);
    CHECK(std::memcmp(whole.data(), numbers.data(), whole.size()) == 0);
  }
}

TEST_CASE("large checkpoints have parts and an index, which take each other's place whole") {
  const Folder folder;
  const std::string path = folder.file("m.safetensors");
  const ValueLayout none{.dims = {{}, {}}, .partial = {}};
  const auto files = [&] {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path)) {
      ++count;
    }
    return count;
  };
  REQUIRE(saved(path, kGrid, none, 200).empty());
  CHECK(files() == 3);
  const CheckpointFile parts(path);
  CHECK(parts.problem().empty());
  CHECK(parts.names() == std::vector<std::string>{"a", "b"});
  CHECK(parts.damage({"a", "b"}).empty());
  REQUIRE(saved(path, kGrid, none, 200).empty());  // of the same content
  CHECK(files() == 3);
  REQUIRE(saved(path, kGrid, none, 1'000'000).empty());
  CHECK(files() == 1);
  CHECK(CheckpointFile(path).problem().empty());
  REQUIRE(saved(path, kGrid, none, 200).empty());
  const std::string part = CheckpointFile(path).parts().at(1);
  std::string bytes_there = text_of(part).value();
  bytes_there.back() = 'x';
  put(part, bytes_there);
  CHECK(CheckpointFile(path).damage({"a", "b"}).find("of which `" + part + "` is damaged") !=
        std::string::npos);
  put(path + ".index.json", R"({"weight_map":{"a":"../../etc/passwd"}})");
  CHECK(CheckpointFile(path).problem() == "has an index that cannot be read");
}

TEST_CASE("every bit that flips and every cut is found") {
  const Folder folder;
  const std::string path = folder.file("m.safetensors");
  REQUIRE(saved(path, kGrid, {.dims = {{}, {}}, .partial = {}}, 1'000'000).empty());
  const std::string whole = text_of(path).value();
  const auto is_found = [&](const std::string& text) {
    put(path, text);
    const CheckpointFile file(path);
    return !file.problem().empty() || !file.damage({"a", "b"}).empty();
  };
  CHECK_FALSE(is_found(whole));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ (1 << (at % 8)));
    REQUIRE(is_found(text));
    if (at % 7 == 0) {
      REQUIRE(is_found(whole.substr(0, at)));
    }
  }
  CHECK(is_found(whole + "x"));
}

TEST_CASE("hostile files are refused without harm") {
  const Folder folder;
  const std::string path = folder.file("m.safetensors");
  const std::string good =
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]}})";
  std::mt19937 random(7);
  for (int round = 0; round < 3'000; ++round) {
    std::string text = framed(good, std::string(8, 'x'));
    for (std::uint64_t i = 0, changes = 1 + random() % 6; i < changes; ++i) {
      const std::size_t at = random() % text.size();
      const std::uint64_t kind = random() % 3;
      if (kind == 0) {
        text[at] = static_cast<char>(random());
      } else if (kind == 1) {
        text.erase(at, random() % 9);
      } else {
        text.insert(at, text.substr(random() % text.size(), random() % 30));
      }
    }
    put(path, text);
    const CheckpointFile file(path);
    if (file.problem().empty()) {
      for (const std::string& name : file.names()) {
        const FileTensor& tensor = *file.find(name);
        REQUIRE(tensor.end <= static_cast<std::int64_t>(text.size()));
      }
    }
  }
  put(path, std::string(8, '\xff') + "{}");
  CHECK(CheckpointFile(path).problem() == "is no safetensors file");
  put(path, std::string("\x93NUMPY\x01\0\x76\0{'descr': '<f4'", 25));
  CHECK(CheckpointFile(path).problem() == "is a .npy file, which `load` reads");
  put(path, std::string("\x1F\x8B\x08\0\0\0\0\0\0\x03packed", 16));
  CHECK(CheckpointFile(path).problem() == "is compressed by gzip; `gunzip` makes the file of it");
  put(path, "");
  CHECK(CheckpointFile(path).problem() == "is empty");
  CHECK(CheckpointFile(folder.path.string()).problem() == "is not a file");
}

TEST_CASE("siblings differ in their last number only, the newest first") {
  CHECK(is_sibling("step_7.safetensors", "step_100.safetensors"));
  CHECK_FALSE(is_sibling("step_7.safetensors", "step_.safetensors"));
  CHECK_FALSE(is_sibling("step_7.safetensors", "step_7.safetensors.1.tmp"));
  CHECK_FALSE(is_sibling("a7", "b7"));
  CHECK_FALSE(is_sibling("seed1_step7.safetensors", "seed2_step7.safetensors"));
  CHECK(is_sibling("seed1_step7.safetensors", "seed1_step10.safetensors"));
  CHECK_FALSE(is_sibling("a", "b"));
  CHECK_FALSE(is_sibling("a7", "a"));
  CHECK(part_name("run/m.safetensors", "0123abcd", 2, 12) ==
        "m-0123abcd-00002-of-00012.safetensors");
  const Folder folder;
  const ValueLayout none{.dims = {{}, {}}, .partial = {}};
  int hour = 0;
  for (const char* name : {"s_2.safetensors", "s_10.safetensors", "s_1.safetensors"}) {
    REQUIRE(saved(folder.file(name), kGrid, none, 1'000'000).empty());
    set_time(folder.file(name), ++hour);
  }
  put(folder.file("s_10.safetensors"), "torn");
  CHECK(newest_whole(folder.file("s_1.safetensors")) == folder.file("s_2.safetensors"));
  CHECK(newest_whole(folder.file("s_11.safetensors")) == folder.file("s_1.safetensors"));
}

TEST_CASE("of siblings of one time the one with the greatest number is the newest") {
  const Folder folder;
  const ValueLayout none{.dims = {{}, {}}, .partial = {}};
  for (const char* name : {"s_9.safetensors", "s_010.safetensors", "s_2.safetensors"}) {
    REQUIRE(saved(folder.file(name), kGrid, none, 1'000'000).empty());
    set_time(folder.file(name), 1);
  }
  CHECK(newest_whole(folder.file("s_3.safetensors")) == folder.file("s_010.safetensors"));
  CHECK(newest_whole(folder.file("s_010.safetensors")) == folder.file("s_9.safetensors"));
}

TEST_CASE("a checkpoint is the newest of those that are kept, whatever the clock said before") {
  const Folder folder;
  const ValueLayout none{.dims = {{}, {}}, .partial = {}};
  for (const std::int64_t part_bytes : {1'000'000, 100}) {
    for (const char* name : {"s_1.safetensors", "s_2.safetensors"}) {
      REQUIRE(saved(folder.file(name), kGrid, none, 1'000'000).empty());
      set_time(folder.file(name), 1000);
    }
    const std::string path = folder.file("s_3.safetensors");
    REQUIRE(saved(path, kGrid, none, part_bytes, /*keep=*/2).empty());
    CHECK(CheckpointFile(path).problem().empty());
    CHECK(fs::exists(folder.file("s_2.safetensors")));
    CHECK_FALSE(fs::exists(folder.file("s_1.safetensors")));
  }
}

TEST_CASE("what cannot be written leaves what was there") {
  const Folder folder;
  const std::string path = folder.file("m.safetensors");
  const ValueLayout none{.dims = {{}, {}}, .partial = {}};
  REQUIRE(saved(path, kGrid, none, 1'000'000).empty());
  const std::string old = text_of(path).value();
  CHECK(saved(folder.path.string(), kGrid, none, 1'000'000) == "it is a folder");
  CHECK_FALSE(saved(path + "/below", kGrid, none, 1'000'000).empty());
  CHECK(text_of(path) == old);
}

}  // namespace mtf

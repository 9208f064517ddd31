// Hostile text: whatever comes, parsing ends soon, on a small stack, and says one thing about it.
//
// How soon is counted in requests for memory, which a parser makes at every step.

#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <pthread.h>

#include <catch2/catch.hpp>

#include "tests/unit/frontend/parse/parse_helpers.h"

namespace {
std::atomic<std::uint64_t> requests = 0;
}  // namespace

// Not inlined: g++ would find `free` beside another `new`.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++requests;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) {
    return memory;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  ++requests;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  std::free(memory);
}

namespace mtf::test {
namespace {

constexpr int kMany = 100'000;

// For each byte of the text; most texts need about 10.
constexpr std::uint64_t kRequests = 100;

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStack = std::size_t{8} << 20U;  // its frames are many times as large
#else
constexpr std::size_t kStack = std::size_t{1} << 20U;
#endif

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) {
    result += text;
  }
  return result;
}

// Runs `work` on a thread with a small stack and returns how often it asked for memory.
std::uint64_t on_small_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStack);
  pthread_t thread{};
  const std::uint64_t before = requests;
  const auto run = [](void* data) -> void* {
    (*static_cast<const std::function<void()>*>(data))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)) ==
          0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return requests - before;
}

Parsed parse_small(const std::string& text) {
  Parsed parsed;
  const std::uint64_t made = on_small_stack([&] {
    parsed = parse_text(text);
    if (parsed.file) {
      static_cast<void>(ast::to_string(*parsed.file));
    }
  });
  CHECK(made < kRequests * (text.size() + 1000));
  return parsed;
}

TEST_CASE("nesting beyond the limit is one error, at once") {
  for (const char* unit : {"(", "[", "-", "- ", "not ", "f(", "2**", "-(", "2**(", "[1, ", "f([",
                           "x[", "(1)+(", "\"{", "f(a = ", "y @ [a -> ("}) {
    INFO(unit);
    const Parsed parsed = parse_small("let x = " + repeated(unit, kMany));
    REQUIRE(parsed.diags.diags().size() == 1);
    CHECK(parsed.diags.diags().front().kind == DiagKind::kNestingLimit);
  }
  for (const char* unit :
       {"{", "if x {", "if x {\n", "fn f() {", "layout l on m { params {", "f({"}) {
    INFO(unit);
    const Parsed parsed = parse_small(repeated(unit, kMany));
    REQUIRE(parsed.diags.diags().size() == 1);
    CHECK(parsed.diags.diags().front().kind == DiagKind::kNestingLimit);
  }
}

TEST_CASE("nesting up to the limit parses on a small stack") {
  const auto nested = [](const std::string& open, const std::string& middle,
                         const std::string& close, int depth) {
    return repeated(open, depth) + middle + repeated(close, depth);
  };
  const int deep = static_cast<int>(kMaxNesting);
  CHECK(parse_small("let x = " + nested("(", "1", ")", deep)).file);
  CHECK(parse_small("let x = " + nested("f(a * 2 + -", "1", ")", deep / 2)).file);
  CHECK(parse_small("let x = " + nested("[1 or a and b < c + d * ", "1", "]", deep)).file);
  CHECK(parse_small("let x = " + nested("- ", "1", "", deep)).file);
  CHECK(parse_small("let x = " + nested("2 ** ", "1", "", deep)).file);
  CHECK(parse_small(nested("if x { ", "y", "}", deep)).file);
  CHECK(parse_small("let x = " + nested("\"a {", "1", "}\"", deep)).file);
  CHECK_FALSE(parse_small("let x = " + nested("(", "1", ")", deep + 1)).file);
  CHECK_FALSE(parse_small("let x = " + nested("- ", "1", "", deep + 1)).file);
}

TEST_CASE("what ends does not count as nesting") {
  CHECK(parse_small("let x = 0" + repeated(" + (-1 ** 2)", 1000)).file);
  CHECK(parse_small("let x = not a" + repeated(" and not -a", 1000)).file);
  CHECK(parse_small("let x = [" + repeated("-1, 2 ** 3,\n", 1000) + "4]").file);
}

TEST_CASE("what is long without being deep parses, to a flat tree") {
  for (const char* unit : {"a + ", "a - ", "a and ", "a * b + ", "-a * "}) {
    INFO(unit);
    CHECK(parse_small("let x = " + repeated(unit, kMany) + "a").file);
  }
  for (const char* unit : {"(a)", "[0]", ".x", "@[a -> b]"}) {
    INFO(unit);
    CHECK(parse_small("let x = f" + repeated(unit, kMany)).file);
  }
  CHECK(parse_small("if a { }" + repeated(" else if b { }", kMany)).file);
  CHECK(parse_small("let x = [" + repeated("a, ", kMany) + "]").file);
  CHECK(parse_small("let x = \"" + repeated("{a} ", kMany) + "\"").file);
  CHECK(parse_small("layout l on m { " + repeated("a, ", kMany) + "b -> c }").file);
  CHECK(parse_small(repeated("a\n", kMany)).file);
  CHECK(parse_small(repeated(";\n", kMany)).file);
}

TEST_CASE("long tokens and long lines are only long") {
  CHECK(parse_small("let x = \"" + std::string(10'000'000, 'a') + "\"").file);
  CHECK(parse_small("#" + std::string(10'000'000, 'a') + "\nlet x = 3").file);
  CHECK(parse_small("let x = y" + std::string(1'000'000, 'a')).file);
  const Parsed number = parse_small("let x = " + std::string(100'000, '1'));
  REQUIRE(number.diags.diags().size() == 1);
  CHECK(number.diags.diags().front().kind == DiagKind::kOverflow);
  CHECK(number.diags.diags().front().text.size() < 100);
}

TEST_CASE("errors by the thousand stay few and quick") {
  for (const char* unit : {"let 3 = 4\n", ")", "&& ", "a b\n", "print \"x\n", "f(\n", "}\n", "= ",
                           "a < ", ", ", "let ", "x = ;"}) {
    INFO(unit);
    const Parsed parsed = parse_small(repeated(unit, kMany));
    CHECK_FALSE(parsed.file);
    CHECK(parsed.diags.errors() >= 1);
    CHECK(parsed.diags.errors() <= kMaxSyntaxErrors);
  }
}

TEST_CASE("a file too large is refused before it is read") {
  const Parsed parsed = parse_text(std::string(kMaxFileBytes + 1, ' '));
  REQUIRE(parsed.diags.diags().size() == 1);
  CHECK(parsed.diags.diags().front().kind == DiagKind::kBadText);
  CHECK(parsed.diags.diags().front().text == "the file has 67108865 bytes, more than 67108864");
}

TEST_CASE("a file of too many words is refused") {
  const Parsed parsed = parse_text(repeated("a\n", static_cast<int>(kMaxTokens) / 2 + 1));
  REQUIRE(parsed.diags.diags().size() == 1);
  CHECK(parsed.diags.diags().front().kind == DiagKind::kBadText);
}

TEST_CASE("text that is not text is told where it stops being it") {
  struct Case {
    std::string text;
    const char* error;
  };
  const std::vector<Case> cases = {
      {"let x = 3\nlet y = \xFF", "2:9 the byte 0xFF is not UTF-8"},
      {"a \xC3", "1:3 the byte 0xC3 is not UTF-8"},            // cut short
      {"\xC0\x80", "1:1 the byte 0xC0 is not UTF-8"},          // overlong
      {"a\n\xED\xA0\x80", "2:1 the byte 0xED is not UTF-8"},   // a surrogate
      {"\xF4\x90\x80\x80", "1:1 the byte 0xF4 is not UTF-8"},  // beyond U+10FFFF
      {"# \x80", "1:3 the byte 0x80 is not UTF-8"},            // in a comment, too
      {std::string("let x = \0", 9), "1:9 a NUL byte in what should be text"},
      {"\xFF\xFEl\0e\0t", "1:1 the byte 0xFF is not UTF-8"},  // UTF-16
  };
  for (const Case& one : cases) {
    const std::vector<std::string> found = errors(one.text);
    REQUIRE(found.size() == 1);
    CHECK(found.front() == one.error);
    CHECK(parse_text(one.text).diags.diags().front().kind == DiagKind::kBadText);
  }
}

TEST_CASE("a byte order mark and carriage returns leave places alone") {
  const Parsed parsed = parse_text("\xEF\xBB\xBFlet x = é\r\nlet y = größe\r\n");
  REQUIRE(parsed.file);
  CHECK(parsed.text(parsed.file->statements.at(0).span) == "let x = é");
  CHECK(parsed.text(parsed.file->statements.at(1).span) == "let y = größe");
  CHECK(errors("let x = é\r\nlet ü 3\r\n") ==
        std::vector<std::string>{"2:7 found `3` where `=` was expected"});
}

TEST_CASE("characters that turn text around are warned of once") {
  const Parsed parsed = parse_text("let x = 1 # \u202E\u202E\nlet y = \"\u2066\"");
  REQUIRE(parsed.file);
  REQUIRE(parsed.diags.diags().size() == 1);
  CHECK(parsed.diags.diags().front().severity == Severity::kWarning);
  CHECK(parsed.diags.diags().front().text ==
        "the invisible character U+202E changes the order in which this text is shown");
}

}  // namespace
}  // namespace mtf::test

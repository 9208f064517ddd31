// Diagnostics as text and as JSON: the exact form.

#include "frontend/diagnostics.h"

#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

struct Shown {
  SourceMap sources;
  FileId file;
  DiagSink diags;

  explicit Shown(std::string text)
      : file(sources.add({.name = "model.mtf", .path = "", .text = std::move(text)})) {}

  [[nodiscard]] SourceSpan span(std::uint32_t begin, std::uint32_t end) const {
    return {.file = file, .begin = begin, .end = end};
  }
  [[nodiscard]] std::string render(ColorMode color = ColorMode::kPlain) const {
    return mtf::render(diags.diags(), sources, color);
  }
};

TEST_CASE("an error shows its place, its slug, the line and a caret under the span") {
  Shown shown("dim batch = 2\nlet y = sum(x, heads)\n");
  shown.diags.error(DiagKind::kUnknownDim, shown.span(29, 34), "`sum` over `heads`");
  CHECK(shown.render() ==
        "model.mtf:2:16: error: `sum` over `heads` [unknown-dim]\n"
        "  let y = sum(x, heads)\n"
        "                 ^~~~~\n");
}

TEST_CASE("notes repeat the form, without a slug") {
  Shown shown("dim a = 2\ndim a = 3\n");
  shown.diags.error(DiagKind::kDuplicateName, shown.span(14, 15), "`a` again",
                    {{.span = shown.span(4, 5), .text = "first here"},
                     {.span = {}, .text = "a note without a place"}});
  CHECK(shown.render() ==
        "model.mtf:2:5: error: `a` again [duplicate-name]\n"
        "  dim a = 3\n"
        "      ^\n"
        "model.mtf:1:5: note: first here\n"
        "  dim a = 2\n"
        "      ^\n"
        "note: a note without a place\n");
}

TEST_CASE("a warning is called one, and a diagnostic without a file has no excerpt") {
  Shown shown("x\n");
  shown.diags.warning(DiagKind::kNotANumber, {}, "the loss is NaN");
  CHECK(shown.render() == "warning: the loss is NaN [not-a-number]\n");
}

TEST_CASE("a span over several lines shows the first; an empty one a single caret") {
  Shown shown("let x = f(a,\n  b)\n");
  shown.diags.error(DiagKind::kSyntax, shown.span(8, 16), "long");
  shown.diags.error(DiagKind::kSyntax, shown.span(12, 12), "empty");
  CHECK(shown.render() ==
        "model.mtf:1:9: error: long [syntax]\n"
        "  let x = f(a,\n"
        "          ^~~~\n"
        "model.mtf:1:13: error: empty [syntax]\n"
        "  let x = f(a,\n"
        "              ^\n");
}

TEST_CASE("the caret stands under the right character: tabs, accents, wide and joining ones") {
  Shown shown("\tlet größe = 中文 + e\u0301 + bad\r\n");
  const auto begin = static_cast<std::uint32_t>(shown.sources.line(shown.file, 1).find("bad"));
  shown.diags.error(DiagKind::kSyntax, shown.span(begin, begin + 3), "here");
  CHECK(shown.render() ==
        "model.mtf:1:24: error: here [syntax]\n"
        "  \tlet größe = 中文 + e\u0301 + bad\n"
        "  \t                       ^~~\n");
}

TEST_CASE("of a long line the part around the span is shown") {
  Shown shown(std::string(1000, 'a') + "BAD" + std::string(1000, 'b'));
  shown.diags.error(DiagKind::kSyntax, shown.span(1000, 1003), "here");
  CHECK(shown.render() == "model.mtf:1:1001: error: here [syntax]\n  …" + std::string(60, 'a') +
                              "BAD" + std::string(97, 'b') + "…\n" + std::string(63, ' ') +
                              "^~~\n");
}

TEST_CASE("control characters of the source do not reach the terminal") {
  Shown shown("let x = \x1b[31m\u202E\x7F\n");
  shown.diags.error(DiagKind::kSyntax, shown.span(4, 5), "found `\x1b[2J`");
  const std::string text = shown.render();
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\x7F') == std::string::npos);
  CHECK(text.find("\u202E") == std::string::npos);
  CHECK(text.find("let x = \uFFFD[31m\uFFFD\uFFFD\n") != std::string::npos);
}

TEST_CASE("a line that is not UTF-8 is still shown") {
  Shown shown("ok \xFF\xC3");
  shown.diags.error(DiagKind::kBadText, shown.span(3, 4), "bad");
  CHECK(shown.render() == "model.mtf:1:4: error: bad [bad-text]\n  ok \uFFFD\uFFFD\n     ^\n");
}

TEST_CASE("colour marks the place, the label and the caret, and nothing else changes") {
  Shown shown("a b\n");
  shown.diags.error(DiagKind::kSyntax, shown.span(2, 3), "found `b`");
  CHECK(shown.render(ColorMode::kColor) ==
        "\x1b[1mmodel.mtf:1:3:\x1b[0m \x1b[1;31merror:\x1b[0m found `b` [syntax]\n"
        "  a b\n"
        "    \x1b[1;32m^\x1b[0m\n");
}

TEST_CASE("JSON has the keys of the language page") {
  Shown shown("dim a = 2\ndim é = 3\n");
  shown.diags.add(
      {.kind = DiagKind::kUnknownName,
       .severity = Severity::kWarning,
       .span = shown.span(14, 16),
       .text = "\"é\" \xFF",
       .notes = {{.span = shown.span(4, 5), .text = "first"}, {.span = {}, .text = "x"}},
       .fix = "e"});
  const auto json = nlohmann::json::parse(render_json(shown.diags.diags(), shown.sources));
  REQUIRE(json["diagnostics"].size() == 1);
  const auto& diag = json["diagnostics"][0];
  CHECK(diag["file"] == "model.mtf");
  CHECK(diag["line"] == 2);
  CHECK(diag["column"] == 5);
  CHECK(diag["end_line"] == 2);
  CHECK(diag["end_column"] == 6);
  CHECK(diag["severity"] == "warning");
  CHECK(diag["slug"] == "unknown-name");
  CHECK(diag["text"] == "\"é\" \uFFFD");
  CHECK(diag["fix"] == "e");
  REQUIRE(diag["notes"].size() == 2);
  CHECK(diag["notes"][0]["text"] == "first");
  CHECK(diag["notes"][0]["line"] == 1);
  CHECK(diag["notes"][1]["file"] == "");
  CHECK(nlohmann::json::parse(render_json({}, shown.sources))["diagnostics"].empty());
}

TEST_CASE("of thousands of messages JSON has the first, and counts the others") {
  Shown shown("a\n");
  for (int i = 0; i < 1234; ++i) {
    shown.diags.error(DiagKind::kSyntax, shown.span(0, 1), "found `a`");
  }
  const auto json = nlohmann::json::parse(render_json(shown.diags.diags(), shown.sources));
  CHECK(json["diagnostics"].size() == 1000);
  CHECK(json["more"] == 234);
}

}  // namespace
}  // namespace mtf

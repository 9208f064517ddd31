// Expressions: what binds tighter, what an operand may be, and where things stand.

#include <catch2/catch.hpp>

#include "tests/unit/frontend/parse/parse_helpers.h"

namespace mtf::test {
namespace {

TEST_CASE("operators bind as in Python") {
  CHECK(expression("a + b * c") == "(a + (b * c))");
  CHECK(expression("a * b + c") == "((a * b) + c)");
  CHECK(expression("a - b - c") == "(a - b - c)");
  CHECK(expression("a - b + c * d // e % f / g") == "(a - b + (c * d // e % f / g))");
  CHECK(expression("(a - b) - c") == "((a - b) - c)");
  CHECK(expression("a - (b - c)") == "(a - (b - c))");
  CHECK(expression("-a ** b") == "(-(a ** b))");
  CHECK(expression("a ** -b") == "(a ** (-b))");
  CHECK(expression("a ** b ** c") == "(a ** (b ** c))");
  CHECK(expression("(a ** b) ** c") == "((a ** b) ** c)");
  CHECK(expression("-a * b") == "((-a) * b)");
  CHECK(expression("a * -b") == "(a * (-b))");
  CHECK(expression("a - -b") == "(a - (-b))");
  CHECK(expression("--a") == "(-(-a))");
  CHECK(expression("a < b + c") == "(a < (b + c))");
  CHECK(expression("not a == b") == "(not (a == b))");
  CHECK(expression("not a and not b or c") == "(((not a) and (not b)) or c)");
  CHECK(expression("a or b and c") == "(a or (b and c))");
  CHECK(expression("a and b and c") == "(a and b and c)");
  CHECK(expression("not not a") == "(not (not a))");
  CHECK(expression("a <-b") == "(a < (-b))");
  CHECK(expression("a<=b") == "(a <= b)");
  CHECK(expression("-f(x)[0].y ** 2") == "(-(f(x)[0].y ** 2))");
}

TEST_CASE("numbers, words and strings are operands") {
  CHECK(expression("1_000") == "1000");
  CHECK(expression("9223372036854775807") == "9223372036854775807");
  CHECK(expression("-9_223_372_036_854_775_808 + a") == "(-9223372036854775808 + a)");
  CHECK(expression("- -9223372036854775808") == "(--9223372036854775808)");
  CHECK(expression("2 ** -9223372036854775808") == "(2 ** -9223372036854775808)");
  CHECK(expression("-9223372036854775807") == "(-9223372036854775807)");
  CHECK(expression("1e-3") == "0.001");
  CHECK(expression("2.0") == "2.0");
  CHECK(expression("1_0.5_0E+2") == "1050.0");
  CHECK(expression("true and false") == "(true and false)");
  CHECK(expression(R"("")") == R"("")");
  CHECK(expression(R"("a \" \\ \n \t \{ \} }")") == R"("a \" \\ \n \t \{ \} \}")");
  CHECK(expression(R"("{a}{b + 1}, {f("in {c}")}")") == R"("{a}{(b + 1)}, {f("in {c}")}")");
  CHECK(expression("größe + 中 + 𝛼_1") == "(größe + 中 + 𝛼_1)");
}

TEST_CASE("calls have arguments, a target, options and a name") {
  CHECK(expression("f()") == "f()");
  CHECK(expression("f(a, b -> [c, d: 3, ..], e = 1, over = io)") ==
        "f(a, b -> [c, d: 3, ..], e = 1, over = io)");
  CHECK(expression("rename(x, io -> features)") == "rename(x, io -> features)");
  CHECK(expression("einsum(x, w -> shape(x) - [a] + [b])") ==
        "einsum(x, w -> (shape(x) - [a] + [b]))");
  CHECK(expression(R"(dense(x) as "layer_{i}" + y)") == R"((dense(x) as "layer_{i}" + y))");
  CHECK(expression("f(a,\n  b,\n)") == "f(a, b)");
}

TEST_CASE("indices pick and slice, pins place") {
  CHECK(expression("x[batch: 3]") == "x[batch: 3]");
  CHECK(expression("x[batch: 0..n - 1, io: 2]") == "x[batch: 0..(n - 1), io: 2]");
  CHECK(expression("x[sample: 64..128 as batch]") == "x[sample: 64..128 as batch]");
  CHECK(expression("xs[0][1..2]") == "xs[0][1..2]");
  CHECK(expression("a + h @ [b, c -> x, d -> (y, *), e -> all, ..]") ==
        "(a + h @ [b -> x, c -> x, d -> (y, *), e -> all, ..])");
  CHECK(expression("h @ []") == "h @ []");
}

TEST_CASE("brackets hold lists, shapes and types") {
  CHECK(expression("[]") == "[]");
  CHECK(expression("[[1, 2], [3, 4],]") == "[[1, 2], [3, 4]]");
  CHECK(expression("[outer: 8, inner: 2 * k, io]") == "[outer: 8, inner: (2 * k), io]");
  CHECK(expression("[.., io]") == "[.., io]");
  CHECK(expression("f32[shape(x)]") == "f32[shape(x)]");
}

const ast::Expr& value_of(const Parsed& parsed) {
  return std::get<ast::Binding>(parsed.file->statements.at(0).node).value;
}

TEST_CASE("every part of an expression knows its place") {
  const Parsed good = parse_text("let v = (é + f(aa -> cc, k = bb)) * x[dd: 1 as ee] @ [ff -> gg]");
  REQUIRE(good.file);
  const ast::Expr& value = value_of(good);
  CHECK(good.text(value.span) == "(é + f(aa -> cc, k = bb)) * x[dd: 1 as ee] @ [ff -> gg]");
  const auto& product = std::get<ast::Chain>(value.node);
  CHECK(good.text(product.first->span) == "(é + f(aa -> cc, k = bb))");
  CHECK(good.text(product.links.at(0).op_span) == "*");
  const auto& sum = std::get<ast::Chain>(product.first->node);
  CHECK(good.text(sum.first->span) == "é");
  const auto& call_expr = sum.links.at(0).operand;
  CHECK(good.text(call_expr.span) == "f(aa -> cc, k = bb)");
  const auto& suffix = std::get<ast::Postfix>(call_expr.node).suffixes.at(0);
  CHECK(good.text(suffix.span) == "(aa -> cc, k = bb)");
  const auto& call = std::get<ast::Call>(suffix.node);
  CHECK(good.text(call.target->span) == "cc");
  CHECK(good.text(call.arguments.at(1).span) == "k = bb");
  CHECK(good.text(call.arguments.at(1).name->span) == "k");
  CHECK(good.text(call.arguments.at(1).value.span) == "bb");
  const auto& indexed = std::get<ast::Postfix>(product.links.at(0).operand.node);
  const auto& item = std::get<ast::Index>(indexed.suffixes.at(0).node).items.at(0);
  CHECK(good.text(item.dim->span) == "dd");
  CHECK(good.text(item.as->span) == "ee");
  const auto& pin = std::get<ast::Pin>(indexed.suffixes.at(1).node);
  CHECK(good.text(pin.rules.at(0).dim.span) == "ff");
  CHECK(good.text(pin.rules.at(0).targets.at(0).axis.span) == "gg");
}

TEST_CASE("what a string interpolates stands where it is written") {
  const Parsed parsed = parse_text(R"(let v = "é {a + 1} \n {f("x{bb}")}")");
  REQUIRE(parsed.file);
  const auto& string = std::get<ast::String>(value_of(parsed).node);
  REQUIRE(string.parts.size() == 4);
  CHECK(std::get<std::string>(string.parts.at(0).node) == "é ");
  CHECK(parsed.text(std::get<ast::Expr>(string.parts.at(1).node).span) == "a + 1");
  CHECK(std::get<std::string>(string.parts.at(2).node) == " \n ");
  const auto& inner = std::get<ast::Expr>(string.parts.at(3).node);
  CHECK(parsed.text(inner.span) == R"(f("x{bb}"))");
  const auto& call = std::get<ast::Call>(std::get<ast::Postfix>(inner.node).suffixes.at(0).node);
  const auto& nested = std::get<ast::String>(call.arguments.at(0).value.node);
  CHECK(parsed.text(std::get<ast::Expr>(nested.parts.at(1).node).span) == "bb");
}

TEST_CASE("text without interpolation can be asked for") {
  const Parsed plain = parse_text(R"(let v = "a\tb")");
  CHECK(ast::plain_text(value_of(plain)) == "a\tb");
  const Parsed empty = parse_text(R"(let v = "")");
  CHECK(ast::plain_text(value_of(empty)) == "");
  const Parsed mixed = parse_text(R"(let v = "a{b}")");
  CHECK(ast::plain_text(value_of(mixed)) == std::nullopt);
  const Parsed name = parse_text("let v = a");
  CHECK(ast::plain_text(value_of(name)) == std::nullopt);
  CHECK(ast::as_name(value_of(name))->text == "a");
}

}  // namespace
}  // namespace mtf::test

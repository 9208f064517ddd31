// Expressions as they were written: no names resolved, no types known.
//
// Every node and every name has its span. The tree is never deeper than the nesting limit of the
// parser: what can be long without brackets (`a + b + …`, `f(x)[i](y)…`) is a flat list, so
// recursive walks and destruction need no guard of their own.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/support/source.h"

namespace mtf::ast {

struct Expr;
struct Element;
struct Link;
struct Suffix;
struct StringPart;
using ExprPtr = std::unique_ptr<Expr>;

struct Name {
  std::string text;
  SourceSpan span;
};

struct Int {
  std::int64_t value = 0;
};

struct Float {
  double value = 0;
};

struct Bool {
  bool value = false;
};

// "step {step}": text and expressions in turn. No part for an empty string.
struct String {
  std::vector<StringPart> parts;
};

struct NameRef {
  std::string text;
};

// [batch, io]   [a: 2, b: 3]   [1, 2]   [batch, ..]: a list or a shape, told apart by its values.
struct Bracket {
  std::vector<Element> elements;
};

// 0..n; only as what a `for` runs over and as the value of an index.
struct Range {
  ExprPtr begin;
  ExprPtr end;
};

enum class UnaryOp : std::uint8_t { kNegate, kNot };

struct Unary {
  UnaryOp op{};
  ExprPtr operand;
};

enum class BinaryOp : std::uint8_t {
  kOr,
  kAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
};

// Operators of one precedence level, applied from left to right: `a - b + c` is a, (-, b), (+, c).
// A comparison and a `**` have exactly one link; the right side of `**` is its operand.
struct Chain {
  ExprPtr first;
  std::vector<Link> links;
};

// A primary with what follows it, applied from left to right: `optim.sgd(lr = 1)[0]`.
struct Postfix {
  ExprPtr base;
  std::vector<Suffix> suffixes;
};

// Its special members are out of line: this tree is deep, and every file that reads it would make
// them again.
struct ExprNode
    : std::variant<Int, Float, Bool, String, NameRef, Bracket, Range, Unary, Chain, Postfix> {
  using variant::variant;
  ExprNode(ExprNode&& other) noexcept;
  ExprNode& operator=(ExprNode&& other) noexcept;
  ~ExprNode();
  ExprNode(const ExprNode&) = delete;
  ExprNode& operator=(const ExprNode&) = delete;
};

struct Expr {
  SourceSpan span;  // with the parentheses around it, if any
  ExprNode node;
};

struct StringPart {
  std::variant<std::string, Expr> node;  // text has its escapes resolved
  std::string format = {};               // of an expression: ".4f"
};

struct Rest {};  // `..`

struct Sized {  // length: 128
  Name name;
  Expr size;
};

struct Element {
  SourceSpan span;
  std::variant<Expr, Sized, Rest> node;
};

struct Link {
  BinaryOp op{};
  SourceSpan op_span;
  Expr operand;
};

// `name = value`, or a value alone.
struct Argument {
  SourceSpan span;
  std::optional<Name> name;
  Expr value;
};

// (x, w -> [batch, hidden], name = value) as "layer_{i}"
// Positional arguments come first; `target` is what `->` points to, after all of them.
struct Call {
  std::vector<Argument> arguments;
  std::optional<Expr> target;
  std::optional<Expr> name;  // a String
};

// One of [batch: 3]  [batch: 0..32]  [sample: 64..128 as batch]  [0]
struct IndexItem {
  SourceSpan span;
  std::optional<Name> dim;
  Expr value;  // may be a Range
  std::optional<Name> as;
};

struct Index {
  std::vector<IndexItem> items;  // at least one
};

// .sgd   ."layer_{i}/w"
struct Member {
  Name name;     // its text is empty where a string stands for it
  ExprPtr path;  // a String, or null
};

// What a rule maps a dim to: an axis, `*` (every axis the tensor leaves unused) or `all`.
enum class TargetKind : std::uint8_t { kAxis, kUnused, kAll };

struct Target {
  TargetKind kind{};
  Name axis;  // its text is "*" and "all" for the other kinds
};

// y == z, or x == y == z, or r == 0: a coordinate is an axis or a number
struct Condition {
  SourceSpan span;
  std::vector<Name> coordinates;
};

struct Rule {
  SourceSpan span;
  Name dim;
  std::vector<Target> targets;  // major first; none: not split
  std::vector<Condition> where = {};
};

// h @ [batch -> x, ..]
struct Pin {
  std::vector<Rule> rules;
  bool open = false;  // ends in `..`
};

struct Suffix {
  SourceSpan span;  // from its first token, as `(`, `[`, `.` or `@`, to its last
  std::variant<Call, Index, Member, Pin> node;
};

// A tensor type, f32[batch, length: 128, ..], or a word such as `dim`, `int`, `fn`, `tensor`.
// An element that is an expression names a dim, or gives a shape to splice.
struct TypeExpr {
  SourceSpan span;
  Name name;                    // the dtype or the word
  std::optional<Bracket> dims;  // absent for a word
};

[[nodiscard]] std::string_view to_string(BinaryOp op);  // "//"
[[nodiscard]] std::string_view to_string(UnaryOp op);
// One line as it would be written, with every operator in parentheses: (a + (b * c))
[[nodiscard]] std::string to_string(const Expr& expr);
[[nodiscard]] std::string to_string(const TypeExpr& type);
[[nodiscard]] std::string to_string(const Rule& rule);

// The text of a string without interpolation; absent if it has any.
[[nodiscard]] std::optional<std::string> plain_text(const Expr& expr);
// The word, if the expression is one name and nothing else; null otherwise.
[[nodiscard]] const NameRef* as_name(const Expr& expr);

}  // namespace mtf::ast

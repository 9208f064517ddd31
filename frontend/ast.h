// Statements and files as they were written. The whole language is here, including what a later
// phase may answer with "not built yet".
//
// A `File` owns its tree; the address of a statement does not change when the file is moved, so a
// function value may point to its `Fn` for as long as the file lives.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/ast_expr.h"

namespace mtf::ast {

struct Stmt;

struct Block {
  SourceSpan span;  // with its braces
  std::vector<Stmt> statements;
};

// import nn   import nn as n   import "lib/mine.mtf" as mine
struct Import {
  Name module;  // for a file, its path and the span of the string
  bool is_file = false;
  std::optional<Name> alias;  // always there for a file
};

// dim batch = 64, hidden = 2 * batch
struct Dims {
  std::vector<Sized> dims;
};

// mesh pod = [x: 16, y: 32] of tpu_v2
struct Mesh {
  Name name;
  std::vector<Sized> axes;
  std::optional<Name> profile;
};

// Other rules for the variables that a glob names: at "two_layer/w" { hidden -> cols }
struct RulesAt {
  SourceSpan span;
  bool lets = false;  // `at let`: of what `let`s named, not of variables
  Name glob;
  std::vector<Rule> rules;
};

struct ParamRules {
  SourceSpan span;
  std::vector<Rule> rules;
};

// gather = again
struct LayoutOption {
  Name name;
  Name value;
};

// layout both on grid { batch -> rows, hidden -> cols }
struct Layout {
  Name name;
  std::optional<Name> mesh;         // where it is left out, a later phase says what is meant
  std::optional<SourceSpan> infer;  // where the word stands, if it does
  std::optional<SourceSpan> automatic;
  std::optional<SourceSpan> uneven;
  std::vector<Rule> rules;
  std::optional<ParamRules> params;
  std::vector<RulesAt> at;
  std::vector<LayoutOption> options;
};

// use layout both
struct UseLayout {
  Name layout;
};

struct Parameter {
  SourceSpan span;
  Name name;
  std::optional<TypeExpr> type;
  std::optional<Expr> initial;  // the default value
};

// fn f(x, from: dim, bias: bool = true) -> f32[from] { … }, or `model`
struct Fn {
  Name name;
  bool is_model = false;
  bool is_top_level = false;  // made of statements that stood there, to be looked at
  std::vector<Parameter> parameters;
  std::vector<TypeExpr> results;  // empty where none are written
  Block body;
};

// let a, b = f(x), or `var`; or option a = 256, which the command line may give another value
struct Binding {
  bool rebindable = false;
  bool is_option = false;
  std::vector<Name> names;  // at least one
  Expr value;
};

// a, b = f(x)
struct Assign {
  std::vector<Name> names;  // at least one
  Expr value;
};

// w <- w - 0.1 * g
struct Update {
  Expr target;
  Expr value;
};

// param w : f32[io] = zeros   state steps = 0
struct Variable {
  bool trained = false;  // param
  Name name;
  std::optional<TypeExpr> type;  // at least one of the two
  std::optional<Expr> initial;
};

// for i in 0..n step 2 while c { … }
struct For {
  Name variable;
  Expr over;  // may be a Range
  std::optional<Expr> step;
  std::optional<Expr> condition;  // of each turn
  Block body;
};

struct While {
  Expr condition;
  Block body;
};

struct Branch {
  Expr condition;
  Block body;
};

struct If {
  std::vector<Branch> branches;  // `if`, then every `else if`
  std::optional<Block> otherwise;
};

// break, or `continue`
struct Leave {
  bool for_next_turn = false;
};

struct Return {
  std::vector<Expr> values;
};

struct Print {
  std::vector<Expr> parts;
};

struct Assert {
  Expr condition;
  std::optional<Expr> message;
};

// minimize loss with optim.sgd(lr = 0.5)
struct Minimize {
  Expr loss;
  Expr rule;                      // `optim.sgd`
  std::vector<Argument> options;  // empty without parentheses
  std::optional<Expr> params;     // which alone are trained; absent: all
};

// save "step_{n}.safetensors", keep = 3    restore "base.safetensors" as "encoder/*"
struct Checkpoint {
  bool restore = false;
  Expr path;
  std::optional<Expr> part;       // globs of what is restored; absent: everything
  std::vector<Argument> options;  // all named
};

struct WithLayout {
  Name layout;
  Block body;
};

// with precision bf16, gradients = bf16 { … }
struct PrecisionOption {
  Name name;
  Name value;
};

struct WithPrecision {
  Name dtype;
  std::vector<PrecisionOption> options;
  Block body;
};

struct Recompute {
  Block body;
};

// gradient dy { return dx, dw }: what a function gives for its own gradient
struct Gradient {
  std::vector<Name> names;  // of the gradients of its results
  Block body;
};

// all_reduce(cols) = 1   peak_memory < 2 GiB
struct Clause {
  SourceSpan span;
  Expr subject;
  BinaryOp relation{};  // a comparison
  Expr bound;
  std::optional<Name> unit;
};

// expect { … }   expect train_step under [both, wide] { … }
struct Expect {
  std::optional<Name> entry;  // absent: the function that it stands in
  std::vector<Name> layouts;  // empty: every layout
  std::vector<Clause> clauses;
};

struct Evaluate {
  Expr value;
};

struct Stmt {
  SourceSpan span;
  std::variant<Import, Dims, Mesh, Layout, UseLayout, Fn, Binding, Assign, Update, Variable, For,
               While, If, Leave, Return, Print, Assert, Minimize, Checkpoint, WithLayout,
               WithPrecision, Recompute, Gradient, Expect, Evaluate>
      node;
};

struct File {
  FileId id;
  std::vector<Stmt> statements;
};

// One statement per line, blocks indented by two: what `--emit ast` prints. It is a program again,
// with the same tree.
[[nodiscard]] std::string to_string(const File& file);
[[nodiscard]] std::string to_string(const Block& block);  // the statements, without braces

}  // namespace mtf::ast

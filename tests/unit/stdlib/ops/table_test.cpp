// What holds for every operation.

#include "stdlib/ops/table.h"

#include <algorithm>
#include <set>

#include <catch2/catch.hpp>

namespace mtf::tests {
namespace {

TEST_CASE("every operation fills in its whole definition") {
  for (const OpDef* op : op_table()) {
    INFO("operation " << op->name);
    CHECK_FALSE(op->name.empty());
    CHECK_FALSE(op->summary.empty());
    CHECK_FALSE(op->family.empty());
    CHECK_FALSE(op->shape_rule.empty());
    CHECK(op->summary.size() <= 100);
    CHECK(op->type != nullptr);
    if (op->expand == nullptr) {
      CHECK(op->space != nullptr);
    }
    const int ways = (op->tile != nullptr ? 1 : 0) + (op->kernel != nullptr ? 1 : 0);
    CHECK(ways == (op->space == nullptr ? 0 : 1));
    if (op->tile != nullptr) {
      CHECK_FALSE(op->effect);
    }
    for (const OpParam& param : op->params) {
      INFO("parameter " << param.name);
      CHECK_FALSE(param.help.empty());
      CHECK(std::ranges::all_of(param.help, [](char c) { return c >= ' ' && c <= '~'; }));
    }
  }
}

TEST_CASE("each kind that a phase builds is held by one operation") {
  for (int kind = 1; kind <= static_cast<int>(Primitive::kCheckFinite); ++kind) {
    INFO("primitive " << kind);
    CHECK(std::ranges::count(op_table(), static_cast<Primitive>(kind), &OpDef::primitive) == 1);
  }
  for (int kind = 1; kind < static_cast<int>(Algebra::kMove); ++kind) {
    INFO("kind " << kind);
    CHECK(std::ranges::count(op_table(), static_cast<Algebra>(kind), &OpDef::algebra) == 1);
  }
}

TEST_CASE("every operator says how tightly it binds") {
  for (const OpDef* op : op_table()) {
    INFO("operation " << op->name);
    CHECK((op->precedence > 0) == !op->symbol.empty());
  }
}

TEST_CASE("every example is a program that shows something") {
  for (const OpDef* op : op_table()) {
    INFO("operation " << op->name);
    const std::string_view text = op->example;
    REQUIRE(text.ends_with('\n'));
    const std::string_view last = text.substr(text.substr(0, text.size() - 1).rfind('\n') + 1);
    CHECK((last.starts_with("print ") || last.starts_with("assert ")));
    const std::string_view spelling = op->symbol.starts_with("unary ") ? op->symbol.substr(6)
                                      : op->symbol.empty()             ? op->name
                                                                       : op->symbol;
    const bool written_otherwise =
        op->name == "index" || op->name == "slice" || op->family == "loops";
    CHECK((written_otherwise || text.find(spelling) != std::string_view::npos));
  }
}

TEST_CASE("names and symbols are found and found once") {
  std::set<std::string_view> names;
  std::set<std::string_view> symbols;
  for (const OpDef* op : op_table()) {
    CHECK(names.insert(op->name).second);
    CHECK(find_op(op_table(), op->name) == op);
    if (!op->symbol.empty()) {
      CHECK(symbols.insert(op->symbol).second);
      CHECK(find_operator(op_table(), op->symbol) == op);
    }
  }
  CHECK(symbols == std::set<std::string_view>{"+", "-", "*", "/", "//", "%", "**", "<", "<=", ">",
                                              ">=", "==", "!=", "and", "or", "not", "unary -", "@",
                                              "<-"});
}

TEST_CASE("no two operations have one role in sums of products") {
  std::set<Algebra> seen;
  for (const OpDef* op : op_table()) {
    if (op->algebra != Algebra::kNone && op->algebra != Algebra::kMove) {
      CHECK(seen.insert(op->algebra).second);
    }
  }
  CHECK(seen.size() == 5);
}

}  // namespace
}  // namespace mtf::tests

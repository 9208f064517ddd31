// The text as it was written: every token, nested as the grammar nests them. The syntax tree says
// what a program means; this one says where each word and sign stands.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/support/diag.h"

namespace mtf {

// The rules of the grammar, in its order, and a token.
enum class Form : std::uint8_t {
  kFile,
  kBlock,
  kStatement,
  kImport,
  kDims,
  kDimSize,
  kMesh,
  kAxis,
  kLayout,
  kLayoutBody,
  kLayoutItem,
  kRuleItem,
  kWhere,
  kCondition,
  kCoordinate,
  kTarget,
  kUseLayout,
  kWithLayout,
  kWithPrecision,
  kRegion,
  kGradient,
  kExpectation,
  kNamed,
  kExpectBody,
  kClause,
  kFunction,
  kParameter,
  kType,
  kBinding,
  kVariable,
  kForLoop,
  kWhileLoop,
  kIfElse,
  kLeave,
  kReturnValues,
  kPrint,
  kAssertion,
  kMinimize,
  kCheckpoint,
  kPlain,
  kExpressions,
  kExpr,
  kOperand,
  kSuffix,
  kArguments,
  kArgument,
  kIndexItem,
  kRange,
  kPinItem,
  kElements,
  kElement,
  kString,  // without children: its text is left as it is
  kName,
  kToken,      // a word or a sign
  kSeparator,  // before a statement or a line of rules: `;`, or nothing where a line ended
};

struct Written {
  Form form = Form::kToken;
  std::uint32_t begin = 0;  // of a separator, where it stands, or the end of what is before it
  std::uint32_t end = 0;
  std::vector<Written> children;
};

// The whole file; nullopt: errors were recorded, the same as those of `parse`.
[[nodiscard]] std::optional<Written> parse_written(FileId file, const SourceMap& sources,
                                                   DiagSink& diags);

[[nodiscard]] inline std::string_view text_of(const Written& node, std::string_view source) {
  return source.substr(node.begin, node.end - node.begin);
}

}  // namespace mtf

// One OpDef per operation: everything mtf knows about it, said once.
//
// The checker reads `type`, legality and collectives come from `space`, autodiff reads `grad`, the
// cost `flops`, the executor `tile` or `kernel`. The definitions live in stdlib/ops, which no phase
// may include, so no phase can single an operation out.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/index_map.h"
#include "ir/layout/layout.h"
#include "ir/shape.h"
#include "ir/support/cpu.h"
#include "ir/support/diag.h"

namespace mtf {

struct OpDef;
struct KernelCall;  // ir/kernel.h
class Builder;      // ir/builder.h
class GradBuilder;  // ir/rewrite/autodiff.h

// ---- arguments -----------------------------------------------------------------------------

enum class ParamKind : std::uint8_t {
  kTensor,   // an operand (a host number is lifted to a scalar tensor)
  kTensors,  // every remaining positional operand, or a list of them
  kDim,      // a dim of an operand, or any dim; a bare name
  kNewDim,   // a dim that need not be declared: an unknown name makes one
  kDims,     // one dim or a list
  kNewDims,  // the same of dims that need not be declared
  kShape,
  kDType,
  kInt,
  kReal,
  kBool,
  kText,
  kData,      // nested lists of numbers, flattened row-major
  kInts,      // a whole number, or nested lists of them, flattened, or one of `choices`
  kNewShape,  // a shape; a name that is not declared makes a dim of the size that the type finds
};

struct OpParam {
  std::string_view name;  // "over"; the argument behind `->` is called "to"
  ParamKind kind{};
  bool required = true;
  std::string_view help;                       // one phrase for `mtf ops NAME`, with the default
  std::vector<std::string_view> choices = {};  // a kText is one of these; empty: any text
};

using ArgValue = std::variant<std::monostate, std::int64_t, double, bool, std::string,
                              std::vector<Dim>, Shape, DType, std::vector<double>, Pin>;

// Arguments that are not tensors, by parameter name, each at most once. kDim is a list of one Dim.
// Copies share them until one is changed, which then has its own.
class OpArgs {
 public:
  using Entry = std::pair<std::string_view, ArgValue>;

  OpArgs();  // these out of line, as those of Shape
  OpArgs(const OpArgs& other);
  OpArgs(OpArgs&& other) noexcept;
  OpArgs& operator=(const OpArgs& other);
  OpArgs& operator=(OpArgs&& other) noexcept;
  ~OpArgs();

  [[nodiscard]] std::span<const Entry> entries() const;             // names from OpDef::params
  [[nodiscard]] const ArgValue* find(std::string_view name) const;  // null: not given
  template <typename T>
  [[nodiscard]] const T* get(std::string_view name) const {
    const ArgValue* value = find(name);
    return value == nullptr ? nullptr : std::get_if<T>(value);
  }
  void set(std::string_view name, ArgValue value);  // `name` must outlive: a literal
  void erase(std::string_view name);
  friend bool operator==(const OpArgs& a, const OpArgs& b);

 private:
  std::shared_ptr<std::vector<Entry>> entries_;  // null: none
};

[[nodiscard]] OpArgs to_shape(Shape shape);  // to = shape

// A call as its rules see it: global types while checking, one rank's types for `flops`.
struct OpCall {
  const OpDef* op = nullptr;
  std::vector<TensorType> operands;
  OpArgs args;
  TensorType result;  // empty while `type` runs
  SourceSpan span;
  std::vector<SourceSpan> operand_spans;  // may be empty; `span_of` falls back on `span`

  [[nodiscard]] SourceSpan span_of(std::size_t operand) const;
};

// ---- iteration space -----------------------------------------------------------------------

// What an operation does to one dim of its iteration space.
enum class DimRole : std::uint8_t {
  kKept,      // in the result; each rank computes its share
  kReduced,   // not in the result; ranks hold partial results, joined by `combine`
  kMoved,     // its elements have new places in the result; those that change ranks are sent
  kScanned,   // an index of the result joins all up to it; ranks go on from what others have
  kSelected,  // few of its elements are in the result; each rank proposes its own
  kSorted,    // its elements change places by their order; ranks swap what they have, sorted
  kServed,    // the result has what lies at indices known at run time; ranks send what they have
  kWhole,     // must be complete on each rank: gathered first
};

// Whether an axis may split a loop of the role.
[[nodiscard]] constexpr bool may_split(DimRole role) {
  return role != DimRole::kMoved && role != DimRole::kWhole;
}

// Whether ranks that have parts of a loop of the role tell each other of them by digests.
[[nodiscard]] constexpr bool needs_digest(DimRole role) {
  return role == DimRole::kScanned || role == DimRole::kSelected || role == DimRole::kSorted;
}

// How two numbers become one; of the last two scans alone know.
enum class Combine : std::uint8_t {
  kSum,
  kMax,
  kMin,
  kProd,
  kLogSumExp,   // log(exp(x) + exp(y))
  kRecurrence,  // of pairs: y -> a y + b, one behind the other
};

struct LoopDim {
  std::string name;
  std::int64_t size = 1;
  DimRole role = DimRole::kKept;
  std::int64_t least_block = 1;  // indices of a canonical block at least, where it is summed
};

// How the dims of one tensor are made of loop dims: for each dim, the loops major first. One loop
// for all operations but reshape, whose dims may be several factors.
using DimMap = std::vector<std::vector<std::size_t>>;

// A dim of the operand with role kMoved: index i of dim `to` of the result reads what the map says.
// Where `to` is none, the result lacks the dim: it has what lies at `map.offset`.
struct MovedDim {
  std::size_t dim = 0;
  std::optional<std::size_t> to = {};
  IndexMap map = {};

  // The indices of a slice of the result; one where the result lacks the dim.
  [[nodiscard]] Interval wanted_by(const Slice& slice) const {
    return to ? slice.along(*to) : Interval{.begin = 0, .extent = 1};
  }
  friend bool operator==(const MovedDim&, const MovedDim&) = default;
};

// A dim of an operand of which index i of its loops, kept or reduced, reads a window: what there is
// of the j with up * j one of i * stride + offset … + length - 1. So the blocks of ranks overlap.
struct WindowDim {
  std::size_t operand = 0;
  std::size_t dim = 0;
  std::int64_t stride = 1;
  std::int64_t offset = 0;
  std::int64_t length = 1;
  std::int64_t up = 1;
  std::int64_t tile = 1;  // from a multiple on so many are computed at once, and read as one does
};

// What a rank that has a part of a dim with role kScanned, kSelected or kSorted tells the others of
// it: for each line along the dim, so many numbers, or so many for each element of the part. Lines
// are the indices of the first operand's other dims.
struct Digest {
  DType dtype = DType::kF32;
  std::int64_t width = 1;  // of kSorted, of an element: whole numbers, in order without their signs
  bool from_end = false;   // of a scan: an index joins those behind it
};

// A dim of the first operand with role kServed: a place of the result reads it at the index that
// the operand `index` has for that place, and 0 where an index is outside of its dim. The result
// has the dims of all indices; no dim is made of several loops.
struct ServedDim {
  std::size_t dim = 0;
  std::size_t index = 1;
};

struct IterationSpace {
  std::vector<LoopDim> loops;  // reduced loops in the order in which their sums nest
  std::vector<DimMap> operands;
  DimMap result;
  Combine combine = Combine::kSum;
  // Of an operation that only moves the elements of its one operand: all dims that are not as they
  // were. Then no kernel runs where elements change ranks, the messages do it all.
  std::vector<MovedDim> moved = {};
  std::vector<WindowDim> windows = {};
  std::optional<Digest> digest = {};  // of a dim, the only one, scanned, selected from or sorted
  std::vector<ServedDim> served = {};
  std::string_view way = {};  // the kernel's, of two: by whole sizes; a figure in profiles
};

// The loop that there is a digest of.
[[nodiscard]] std::size_t digested_loop(const IterationSpace& space);

// The dim of a tensor that is the loop; nullopt: it has none, or one made of several loops.
[[nodiscard]] std::optional<std::size_t> dim_of(const DimMap& map, std::size_t loop);

// How each dim of the one operand of such an operation is read; those that stay read themselves.
[[nodiscard]] std::vector<MovedDim> reads_of(const IterationSpace& space);

// Those through which an operand is read.
[[nodiscard]] std::vector<WindowDim> windows_of(const IterationSpace& space, std::size_t operand);

// The space in which every dim is a loop of its own name, and a dim that the result lacks has the
// role `missing`. Right for element-wise operations, einsum, reductions, broadcasts.
[[nodiscard]] IterationSpace space_by_name(const OpCall& call, DimRole missing = DimRole::kReduced,
                                           Combine combine = Combine::kSum);

// May a partial sum pass through? kEach: yes, it only moves elements. kJoint: when all operands are
// partial over the same axes, and not where bits count: it adds (add, subtract), or changes signs,
// also of the zeros that ranks put where others have the element.
enum class Linear : std::uint8_t { kNo, kEach, kJoint };

// What an operation is in the algebra of sums of products, for the rewrites of
// ir/rewrite/rewrite.h; no rewrite names an operation. A kind is held by at most one operation, but
// for kMove.
enum class Algebra : std::uint8_t {
  kNone,
  kProduct,    // element-wise product of two operands
  kSum,        // over the dims that "to" (the result's shape) lacks
  kEinsum,     // product of all operands, summed to "to"
  kBroadcast,  // to "to"
  kTranspose,  // to "to"
  kMove,       // anything else that does nothing when operand and result have the same type
};

// What the syntax and the phases build themselves; no phase names an operation. Each is held by
// one operation.
enum class Primitive : std::uint8_t {
  kNone,
  kFill,  // every element "value"
  kCast,  // to "dtype"
  kAdd,
  kSubtract,
  kNegate,
  kDivide,
  kAnd,
  kOr,
  kAny,
  kGreater,
  kSelect,   // of two tensors by a condition
  kIndex,    // x[dim: i]
  kSlice,    // x[dim: a..b]
  kReshape,  // to "to"
  kConcat,   // along "over"
  kStack,    // along a new "dim"
  kGather,   // rows "over" of a table
  kRange,    // the indices of "dim"
  kPin,      // x @ [..]
  kWhole,    // complete on every rank
  kPrint,
  kAssert,
  kCarry,        // a loop on the device: what it carries, on its way in and out
  kWhile,        // … where a trip begins, if there is one more
  kNext,         // … what a carried value is in the next trip
  kAgain,        // … where a trip ends (ir/loops/loop.h)
  kMetric,       // metric("name", x)
  kCheckFinite,  // of a loss
};

// What becomes of a call in a block of `with precision bf16`.
enum class Narrowing : std::uint8_t {
  kFollows,  // nothing: its result is as narrow as its operands
  kProduct,  // its operands are cast to the block's dtype
  kLookup,   // the first one is, if it is a param
  kWide,     // its narrow operands are widened, and its result is not rounded
};

// ---- the definition ------------------------------------------------------------------------

enum class FileUse : std::uint8_t { kNone, kReads, kWrites };

// Where a tensor lies in a file, element by element as in memory: from this byte on.
struct FilePlace {
  std::string path;
  std::int64_t first = 0;
};

// One contiguous run of an element-wise operation. `dtype` is the operands' element type (the last
// operand's, for `where`), `to` the result's.
struct TileCall {
  DType dtype = DType::kF32;
  DType to = DType::kF32;
  const OpArgs* args = nullptr;
  Isa isa = Isa::kPortable;
  std::uint32_t lone = 0;  // operands, by bit, with one element for the run; if OpDef::spreads
};
using TileFn = void (*)(const TileCall&, std::span<const void* const> in, void* out, std::size_t n);

// What a register does with floats, element by element: several such calls are one pass in which
// values stay in registers (runtime/kernels/lanes). It has the bits that `tile` has.
enum class LaneFn : std::uint8_t {
  kNone,
  kMove,  // between f32 and bf16
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNegate,
  kMagnitude,
  kSquare,
  kRoot,
  kReciprocalRoot,
  kReciprocal,
  kRectify,
  kSmaller,
  kLarger,
  kIsEqual,
  kIsUnequal,
  kIsLess,
  kIsAtMost,
  kIsGreater,
  kIsAtLeast,
  kChoose,  // by a condition
};

struct OpDef {
  std::string_view name;     // spelling in .mtf source and in printed IR
  std::string_view symbol;   // operator spelling: "+", "unary -", "not"
  int precedence = 0;        // of the operator: the more, the tighter it binds; 0: of a call
  std::string_view summary;  // one line
  std::string_view family;   // heading in `mtf ops`: "element-wise", "reductions"…
  std::vector<OpParam> params;
  std::string_view shape_rule;  // one line for `mtf ops NAME`: "the union of the operands' dims"
  std::string_view example;     // a small .mtf program; a test runs it
  // Where a call is bound to two names, the second is what this operation gives of the same
  // operands and arguments: let values, places = top_k(…).
  std::string_view companion = {};

  // Checks the call and gives the result's type; may normalise `args` (fill in defaults), and must
  // accept what it normalised. nullopt: an error was recorded.
  std::optional<TensorType> (*type)(OpCall&, DiagSink&) = nullptr;
  // Defined through other operations (softmax, mean): builds them and returns the result. Then the
  // fields below are unused, `host` apart. An invalid id: this call stands for itself (einsum).
  std::optional<struct ValueId> (*expand)(Builder&, const OpCall&,
                                          std::span<const ValueId> operands) = nullptr;

  IterationSpace (*space)(const OpCall&) = nullptr;
  void (*grad)(GradBuilder&) = nullptr;      // null: nothing flows to the operands
  double (*flops)(const OpCall&) = nullptr;  // on one rank's types; null: none
  TileFn tile = nullptr;                     // element-wise over the union of the dims
  bool spreads = false;                      // the tile takes operands with one element for a run
  LaneFn lanes = LaneFn::kNone;              // of floats, what the tile does
  void (*kernel)(const KernelCall&) = nullptr;
  bool strided = false;  // the kernel takes views with strides, and may `accumulate`
  // The kernel shares its work out to the rank's threads. Otherwise each is given a slice of the
  // result (runtime/execute/kernel), and the kernel has nothing to report but of an effect or
  // file.
  bool threaded = false;
  double (*host)(std::span<const double>) = nullptr;  // on plain numbers: `sqrt(from)`

  Linear linear = Linear::kNo;
  // Operands and results of narrow dtypes (ir/dtype.h) as they are: it moves elements, or converts
  // them itself. Otherwise they are widened before, and the result is rounded once: piece by piece
  // for a `tile` (runtime/vector_math/narrow.h), by casts around the call for others
  // (Builder::call).
  bool narrow = false;
  Narrowing narrowing = Narrowing::kFollows;
  bool alias = false;  // the operand itself, in the layout that the argument "layout" pins
  // Reads or writes the file that the argument "path" names.
  FileUse file = FileUse::kNone;
  // Of one that reads: where its result lies in a file as it is. nullopt: nowhere, or the file is
  // not what it was; the kernel reads it, or says what is wrong.
  std::optional<FilePlace> (*place)(const OpCall&) = nullptr;
  bool effect = false;  // print, assert, write: kept though nobody reads it; its result is empty
  bool tests_numbers = false;  // its result says which elements are finite, or NaN
  bool random = false;  // two equal calls are two draws, unless "seed" is given: never merged
  Algebra algebra = Algebra::kNone;
  Primitive primitive = Primitive::kNone;
};

// Whether the operation computes in wider dtypes than some of the call's (OpDef::narrow).
[[nodiscard]] bool is_widened(const OpCall& call);

using OpTable = std::span<const OpDef* const>;

[[nodiscard]] const OpDef* find_op(OpTable table, std::string_view name);          // or null
[[nodiscard]] const OpDef* find_operator(OpTable table, std::string_view symbol);  // or null
// requires: the table has it.
[[nodiscard]] const OpDef& op_of(OpTable table, Algebra algebra);
[[nodiscard]] const OpDef& op_of(OpTable table, Primitive primitive);

}  // namespace mtf

// The SPMD program: one straight list of steps for all ranks.
//
// Its size does not depend on the number of ranks; a rank's coordinates are run-time values. The
// executor runs it, the pseudo-code prints it, the totals price it: nobody decides anything later.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel.h"
#include "ir/program.h"
#include "ir/support/shared.h"

namespace mtf {

struct SpmdId {
  std::int32_t index = -1;

  [[nodiscard]] bool valid() const { return index >= 0; }
  friend auto operator<=>(SpmdId, SpmdId) = default;  // NOLINT(modernize-use-nullptr): clang 14
};
[[nodiscard]] inline std::size_t at(SpmdId id) {
  return static_cast<std::size_t>(id.index);
}

// Where the slice of a value is kept. A result of an element-wise chain may have the very buffer of
// an operand of its step (in place): then no call behind it in the chain reads that operand.
// Values that are gone before an output is made may be in the output's buffer until then.
enum class Home : std::uint8_t {
  kNone,    // inside a fused step only, or of an effect: no memory at all
  kInput,   // the buffer of an input (an argument, a captured tensor, a variable)
  kOutput,  // at `within` in a buffer that is handed to the caller
  kArena,   // at `offset` in the program's planned arena
  kCopy,    // the buffer of a working copy
};

// Copies, and equal ones of many layers, share them.
using SharedLayout = Shared<ValueLayout>;
using SharedSpace = Shared<IterationSpace>;

struct SpmdValue {
  TensorType type;  // of the whole tensor
  SharedLayout layout;
  TensorType local;  // of one rank's slice
  ValueId origin;    // in SpmdProgram::source
  std::string name;  // as the user bound it, or "%9"
  Home home = Home::kNone;
  std::int64_t offset = 0;  // kArena: in bytes; kInput, kOutput, kCopy: which
  std::int64_t within = 0;  // kOutput: in bytes
  // A gathered operand that passes through the call that reads it in so many pieces along a dim:
  // no more than two of them are there at a time. 1: all of it is.
  std::int64_t pieces = 1;
  std::size_t cut = 0;  // that dim

  // Of the longest piece, rounded up to where the next one may begin.
  [[nodiscard]] std::int64_t piece_bytes() const;
  // Memory that it takes on a rank.
  [[nodiscard]] std::int64_t held_bytes() const;
};

enum class StepKind : std::uint8_t {
  kKernel,
  kSlice,  // each rank keeps a part of what it has
  kAllGather,
  kAllToAll,
  kPermute,  // every rank's slice moves to another rank
  // Each rank is sent what it lacks of what its slice of the result reads, by those who have it:
  // a border around its block, or elements that an operation moves (then `calls` has it).
  kHaloExchange,
  kExclusiveScan,  // every rank gets the join of what those before it along the axes have
  kSortExchange,   // ranks that have sorted parts of a dim swap and merge them, until all is sorted
  kServe,          // each rank is sent what its slice of the result reads at indices that all know
  kAllReduce,
  kReduceScatter,
  kBroadcast,  // the one rank of a group that holds a slice gives it to the others
  kReduce,     // only the rank that is to hold the slice gets the sum
};

[[nodiscard]] std::string_view to_string(StepKind kind);  // "all_reduce", "kernel"
[[nodiscard]] bool is_collective(StepKind kind);          // ranks meet in it

// A split of an operation's loops, and what a rank receives for it.
struct PricedLoops {
  std::vector<Axes> loops;  // as many as there are loops
  std::int64_t bytes = 0;
  // Beside the split that was chosen: so many times what a rank computes, and so many more
  // collectives.
  double work = 1;
  std::int64_t collectives = 0;
  Axes idle = {};  // of those that had to split something, as an operand or `@` does
};

// A call that is done part by part of one of its loops, so that operands may pass in pieces
// (stream.h).
struct Stream {
  std::int64_t parts = 1;  // 1: all at once
  std::size_t loop = 0;
  std::vector<Axes> starts;      // along these, ranks begin with different parts
  std::vector<SpmdId> partials;  // where the loop is summed: sums of parts that wait for others

  // The part that a rank works on at a time. requires: 0 <= time < parts
  [[nodiscard]] std::int64_t part_at(const Mesh& mesh, std::int64_t rank, std::int64_t time) const;
  // Indices of the loop, from the first that is the rank's own, in a part.
  [[nodiscard]] Interval part_of(std::int64_t extent, std::int64_t part) const;
};

// An operation on whole tensors, and how its loops are split over ranks.
struct SplitCall {
  OpCall call;  // global types; of no place in the source
  SharedSpace space;
  std::vector<Axes> loops;  // per loop of the space, the axes that split it
  std::int64_t bytes = 0;   // received by a rank for this split: operands and result
  // Next best splits; where bytes move, one for each axis that uses it otherwise.
  std::vector<PricedLoops> otherwise = {};
};

// One operation inside a kernel step.
struct LocalCall {
  Shared<SplitCall> split;  // equal ones of many layers share it
  std::vector<SpmdId> operands;
  SpmdId result;
  ValueId origin;  // in SpmdProgram::source; its number feeds random streams
  CallPart part = CallPart::kAll;
  // The kernel takes an operand's dim that is made of several loops as so many dims: a summed dim
  // of which the result keeps the blocks.
  bool by_loops = false;
  Shared<Stream> stream;

  [[nodiscard]] const OpDef& op() const { return *split->call.op; }
};

enum class Requester : std::uint8_t {
  kOperation,
  kPin,     // an `@`
  kResult,  // what the program returns
  kUpdate,  // what a variable takes
  kTrip,    // what a loop hands on to its next trip
};

// Who asked for a value in another layout.
struct Need {
  ValueId user;  // the operation that reads it; the value itself when its result is finished
  Requester requester = Requester::kOperation;
  std::size_t operand = 0;
  ValueId reader;  // of a result that is finished: the operation that first reads it, if one does
};

enum class ReasonKind : std::uint8_t {
  kReduced,     // `dim`, reduced, is split over `has`
  kCarried,     // and that sum is inside the sum over another dim (stages.h)
  kHolders,     // other ranks hold the slices than before
  kResplit,     // `dim` is split over `had`, and needed split over `has`
  kShared,      // ranks along `had` have the same, and each does a part of the work
  kMoved,       // the operation moves the elements of `dim`, which is split over `had`
  kWindow,      // the operation reads windows of `dim`, which is split over `has`
  kScanned,     // the operation runs along `dim`, which is split over `has`
  kSelected,    // the operation takes elements along `dim`, which is split over `has`
  kSorted,      // the operation sorts `dim`, which is split over `has`
  kServed,      // the operation reads `dim`, which is split over `had`, at indices
  kCheapest,    // of a kernel: its loops could be split otherwise, and more would move
  kStreamed,    // of a kernel: done part by part
  kUnstreamed,  // of a gather that was to pass in parts, and does not
};

// What ends a stream (stream.h).
enum class StreamLimit : std::uint8_t {
  kNone,         // as many parts as were asked for
  kSlice,        // a rank has no more than that
  kMemory,       // with more, sums that wait would take more memory
  kBits,         // with more, the sum would have other bits
  kReadTwice,    // not at all: it is read more than once
  kMoved,        // … another move follows
  kReadWhole,    // … its reader is no product
  kByBlocks,     // … its reader keeps the sums of blocks apart
  kNoGain,       // … parts would take no less memory
  kReadByParts,  // … its reader passes over it for each part of another loop
};

// Why a step is there, or is done as it is.
struct Reason {
  ReasonKind kind{};
  SourceSpan span = {};  // the operation that needs it
  Cause cause = {};      // the rule behind it, if there is one
  std::string dim = {};
  Axes had = {};
  Axes has = {};
  ValueId call = {};  // the operation that is meant, where a step has several
  StreamLimit limit = StreamLimit::kNone;
};

struct Step {
  StepKind kind = StepKind::kKernel;
  // kKernel: one call, or a chain of element-wise calls in order that runs in one pass over the
  // elements; then all calls but those with a home stay in registers and cache. kHaloExchange: the
  // call that moves elements of `from` to `to`, or none. kServe: the call that does so by indices,
  // which are its further operands.
  std::vector<LocalCall> calls;
  // Everything else: from -> to, whose layouts say what moves.
  SpmdId from;
  SpmdId to;
  Axes axes;  // of the group that communicates, ordered: major first
  Combine combine = Combine::kSum;
  Need need;
  // kAllReduce: its sums go in one message with those of the next step, which is another one over
  // the same axes (steps/bucket.h). They are there behind the last step of the message.
  bool with_next = false;

  std::vector<Reason> reasons;
  double flops = 0;           // per rank; a multiply and an add are two
  std::int64_t elements = 0;  // of the slice that a rank hands to the collective
  std::int64_t received = 0;  // by a rank, with a bandwidth-optimal algorithm, rounded down
  std::int64_t bytes = 0;     // received × element size
};

// Applied after all steps. The value's home is the input's own buffer when it was computed in
// place, otherwise the arena or an output, never another input.
struct SpmdUpdate {
  std::size_t input = 0;
  SpmdId value;
};

// A variable in a narrow dtype, kept between runs of the program by who runs it. `value` is there
// from the beginning: what `next` was in the run before, or cast anew if something else has written
// to the variable since (steps/working_copies.h).
struct WorkingCopy {
  std::size_t input = 0;  // the variable
  SpmdId value;
  SpmdId next;  // the same of what the variable is updated to
};

struct CollectiveTotal {
  StepKind kind{};
  Axes axes;                  // in mesh order
  std::int64_t calls = 0;     // tensors
  std::int64_t messages = 0;  // fewer, where several tensors go in one
  std::int64_t elements = 0;
  std::int64_t received = 0;
  std::int64_t bytes = 0;
  // Of a run, what messages between ranks carried, whichever algorithm it was; a plan has none.
  std::int64_t sent_bytes = 0;
  std::int64_t received_bytes = 0;
};

// Per rank, of one run of the program.
struct Totals {
  double flops = 0;
  std::int64_t peak_bytes = 0;  // inputs, variables, outputs and arena together
  std::int64_t parameters = 0;  // elements of the trained variables, whole
  std::int64_t loops = 0;       // of a plan: what is in one counts for one trip
  std::vector<CollectiveTotal> collectives;
};

// The place in totals.collectives of one kind over one set of axes; behind them all if there is
// none.
[[nodiscard]] std::size_t slot_of(const Totals& totals, StepKind kind, Axes axes);
// The same, made if need be.
[[nodiscard]] std::size_t collective_slot(Totals& totals, StepKind kind, Axes axes);

struct SpmdProgram {
  Program source;  // simplified, global
  Mesh mesh;
  std::string layout;                 // name; "" for one rank without rules
  std::vector<SharedTarget> targets;  // per source value, its layout at rest and why
  std::vector<SpmdValue> values;
  std::vector<SpmdId> inputs;  // one per source input
  // One per source output, each at the beginning of the output with its own number.
  std::vector<SpmdId> outputs;
  std::vector<SpmdUpdate> updates;
  std::vector<WorkingCopy> copies;
  std::vector<Step> steps;
  std::int64_t arena_bytes = 0;
  Totals totals;

  [[nodiscard]] const SpmdValue& at(SpmdId id) const {
    return values[static_cast<std::size_t>(id.index)];
  }
  [[nodiscard]] const Target& target(ValueId id) const {
    return *targets[static_cast<std::size_t>(id.index)];
  }
  [[nodiscard]] SpmdValue& at(SpmdId id) { return values[static_cast<std::size_t>(id.index)]; }
};

// Whether a value is no form of what it comes from: sums of blocks, which are yet to be added up.
[[nodiscard]] bool is_sum_of_blocks(const SpmdProgram& program, SpmdId id);

// Whether it is such a value, and what ranks tell of their parts of a dim (partition/digest.h).
[[nodiscard]] bool is_digest(const SpmdProgram& program, SpmdId id);

// Whether a call with so many operands is a product of two tensors, or a sum of such: what is timed
// as a product, and all else as what touches memory.
[[nodiscard]] bool is_product_of_two(const OpDef& op, std::size_t operands);

// The operation of a value, yet without a split of its loops.
[[nodiscard]] SplitCall unsplit_call(const Program& source, ValueId id);

// Whether the rank takes part in the call: where only some hold the result, the others do nothing.
[[nodiscard]] bool is_busy(const SpmdProgram& program, const LocalCall& call, std::int64_t rank);

// Of a call, on the slices of one rank that the kernel is given.
[[nodiscard]] double flops_of(const SpmdProgram& program, const LocalCall& call);
// The same of a rank, whose slices may be shorter than the longest.
[[nodiscard]] double flops_on(const SpmdProgram& program, const LocalCall& call, std::int64_t rank);

// What a step reads, its own values of a chain included, one by one.
template <typename F>
void for_read(const Step& step, const F& body) {
  if (step.calls.empty()) {
    body(step.from);
  }
  for (const LocalCall& call : step.calls) {
    for (const SpmdId id : call.operands) {
      body(id);
    }
  }
}
// The same as a list.
[[nodiscard]] std::vector<SpmdId> read_by(const Step& step);

// What a step computes or moves, of a chain the last value: in SpmdProgram::source.
[[nodiscard]] ValueId made_by(const SpmdProgram& program, const Step& step);

// The step at which a step is done: of a gather whose result passes in pieces, the product that
// they pass through, which stands right behind such gathers.
[[nodiscard]] std::size_t done_at(const SpmdProgram& program, std::size_t step);

// The steps that go in one message with this one, which ends with the last of them.
struct StepRange {
  std::size_t begin = 0;
  std::size_t end = 0;  // behind the last one

  [[nodiscard]] std::size_t size() const { return end - begin; }
};
[[nodiscard]] StepRange message_of(const SpmdProgram& program, std::size_t step);

// Received in the message that a step ends; 0 where it goes with the next one.
[[nodiscard]] std::int64_t message_bytes(const SpmdProgram& program, std::size_t step);

[[nodiscard]] std::string verify(const SpmdProgram& program);  // "" or what is wrong

}  // namespace mtf

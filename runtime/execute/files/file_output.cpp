#include "runtime/execute/files/file_output.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace mtf {
namespace {

// Whether slices lie in one piece in the whole tensor, and are all as long: no dim behind the first
// that has several elements is split, and that one comes out even.
bool lies_in_one_piece(const SpmdValue& value, const Mesh& mesh) {
  bool is_inside = false;
  for (std::size_t d = 0; d < value.type.shape.rank(); ++d) {
    const Axes& axes = value.layout->dims[d];
    const std::int64_t size = value.type.shape[d].size;
    if (!axes.empty() && (is_inside || size % mesh.size_of(axes) != 0)) {
      return false;
    }
    is_inside = is_inside || size > 1;
  }
  return true;
}

std::int64_t argument(const OpCall& call, std::string_view name, std::int64_t otherwise) {
  const auto* given = call.args.get<std::int64_t>(name);
  return given == nullptr ? otherwise : *given;
}

// The first element of a range of an input that lies there in one piece, the same on all ranks.
std::optional<std::int64_t> range_of(const SpmdValue& x, const SpmdValue& result,
                                     const LocalCall& call) {
  const auto* dims = call.split->call.args.get<std::vector<Dim>>("dim");
  const std::optional<std::size_t> cut =
      dims == nullptr ? std::nullopt : x.type.shape.index_of(dims->front().name);
  if (!cut || !x.layout->dims[*cut].empty() || !result.layout->dims[*cut].empty() ||
      argument(call.split->call, "step", 1) != 1) {
    return std::nullopt;
  }
  std::int64_t behind = 1;
  for (std::size_t d = 0; d < x.local.shape.rank(); ++d) {
    if (d < *cut && x.type.shape[d].size > 1) {
      return std::nullopt;
    }
    behind *= d > *cut ? x.local.shape[d].size : 1;
  }
  return argument(call.split->call, "begin", 0) * behind;
}

std::int64_t first_element(const Shape& whole, const Slice& slice) {
  std::int64_t first = 0;
  for (std::size_t d = 0; d < whole.rank(); ++d) {
    first = first * whole[d].size + slice.offset[d];
  }
  return first;
}

// Whether the value is an output, whose buffer nothing else is in before it is made.
bool has_output_alone(const SpmdProgram& program, SpmdId id) {
  const SpmdValue& value = program.at(id);
  if (value.home != Home::kOutput ||
      program.outputs[static_cast<std::size_t>(value.offset)] != id) {
    return false;
  }
  return std::ranges::count_if(program.values, [&](const SpmdValue& other) {
           return other.home == Home::kOutput && other.offset == value.offset;
         }) == 1;
}

}  // namespace

std::optional<FileOutput> file_output(const SpmdProgram& program, const LocalCall& call) {
  const bool may_be = call.op().place != nullptr || call.op().primitive == Primitive::kSlice;
  if (!may_be || !call.result.valid() || call.part != CallPart::kAll ||
      !has_output_alone(program, call.result)) {
    return std::nullopt;
  }
  const SpmdValue& result = program.at(call.result);
  const auto output = static_cast<std::size_t>(result.offset);
  if (call.op().place != nullptr) {
    return lies_in_one_piece(result, program.mesh) ? std::optional(FileOutput{.output = output})
                                                   : std::nullopt;
  }
  const SpmdValue& x = program.at(call.operands.front());
  const bool is_input = x.home == Home::kInput &&
                        program.inputs[static_cast<std::size_t>(x.offset)] == call.operands.front();
  const std::optional<std::int64_t> first = is_input ? range_of(x, result, call) : std::nullopt;
  return first
             ? std::optional(FileOutput{
                   .output = output, .input = static_cast<std::size_t>(x.offset), .first = *first})
             : std::nullopt;
}

namespace {

// A range of what the input's parts are.
void take_range(const FileOutput& from, const RankTensor& input, RankTensor& output) {
  const auto width = static_cast<std::int64_t>(bytes_of(output.type.dtype));
  for (std::size_t i = 0; i < output.parts.size(); ++i) {
    const Buffer& part = input.parts[i];
    if (part.file() != nullptr) {
      const std::int64_t first = part.data() - part.file()->data() + from.first * width;
      output.parts[i] = Buffer(part.file(), first, output.local.bytes());
    }
  }
  output.in_file = input.in_file;
}

// False if a rank's part is not there: the kernel says why.
bool take_parts(const SpmdProgram& program, const FilePlace& place,
                std::span<const std::int64_t> ranks, RankTensor& output) {
  const Shape& shape = output.type.shape;
  const auto width = static_cast<std::int64_t>(bytes_of(output.type.dtype));
  bool all = true;
  for (std::size_t i = 0; i < output.parts.size(); ++i) {
    const Slice slice = slice_of(shape, output.layout, program.mesh, ranks[i]);
    const std::int64_t bytes = shape_of(shape, slice).volume() * width;
    if (bytes == 0) {
      continue;
    }
    auto file = std::make_shared<MappedFile>(
        place.path, place.first + first_element(shape, slice) * width, bytes);
    all = all && file->problem().empty();
    if (all) {
      output.parts[i] = Buffer(std::move(file), 0, bytes);
    }
  }
  return all;
}

}  // namespace

bool take_from_file(const SpmdProgram& program, const LocalCall& call, const FileOutput& from,
                    std::span<const RankTensor* const> inputs, Communicator& communicator,
                    RankTensor& output) {
  if (from.input) {
    if (inputs[*from.input]->in_file) {
      take_range(from, *inputs[*from.input], output);
    }
    return output.in_file.has_value();
  }
  const std::optional<FilePlace> place = call.op().place(call.split->call);
  const bool is_there = place && take_parts(program, *place, communicator.local_ranks(), output);
  if (communicator.any(!is_there)) {
    return false;
  }
  output.in_file = program.source.at(call.origin).span;
  return true;
}

namespace {

void check_file(const RankTensor& tensor, std::vector<RankHost>& hosts) {
  for (std::size_t i = 0; i < tensor.parts.size(); ++i) {
    const std::shared_ptr<const MappedFile>& file = tensor.parts[i].file();
    const std::string change = file == nullptr ? "" : file->change();
    if (!change.empty()) {
      hosts[i].fail({.kind = DiagKind::kFile,
                     .span = *tensor.in_file,
                     .text = in_backticks(file->path()) + " " + change});
    }
  }
}

}  // namespace

bool check_files(std::span<const RankTensor* const> inputs, std::span<const RankTensor> outputs,
                 std::vector<RankHost>& hosts) {
  bool any = false;
  for (const RankTensor* input : inputs) {
    any = any || input->in_file.has_value();
    check_file(*input, hosts);
  }
  for (const RankTensor& output : outputs) {
    any = any || output.in_file.has_value();
    check_file(output, hosts);
  }
  return any;
}

std::int64_t bytes_in_files(const SpmdProgram& program, std::span<const RankTensor* const> inputs) {
  std::int64_t bytes = 0;
  for (const RankTensor* input : inputs) {
    bytes += input->in_file ? input->local.bytes() : 0;
  }
  for (const Step& step : program.steps) {
    for (const LocalCall& call : step.calls) {
      const std::optional<FileOutput> from = file_output(program, call);
      const bool is_one = from && (from->input ? inputs[*from->input]->in_file.has_value()
                                               : call.op().place(call.split->call).has_value());
      bytes += is_one ? program.at(call.result).local.bytes() : 0;
    }
  }
  return bytes;
}

}  // namespace mtf

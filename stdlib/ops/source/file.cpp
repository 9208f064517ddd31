// load and write: tensors in .npy files. A rank reads its own slice and no more.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ir/kernel.h"
#include "runtime/kernels/strided.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/source/npy.h"
#include "stdlib/ops/source/sizes.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

// ---- load ------------------------------------------------------------------------------------

// "" or what is wrong with the file for a tensor of that shape.
std::string problem_of(const std::string& path, const NpyInfo& info, const Shape& shape) {
  if (!info.problem.empty()) {
    return in_backticks(path) + " " + info.problem;
  }
  if (std::ranges::find(info.sizes, 0) != info.sizes.end()) {
    return in_backticks(path) + " holds " + to_string(info.sizes) +
           ", which is no element; a tensor has at least one";
  }
  bool same = info.sizes.size() == shape.rank();
  for (std::size_t i = 0; same && i < shape.rank(); ++i) {
    same = info.sizes[i] == shape[i].size;
  }
  if (same) {
    return "";
  }
  const std::optional<Shape> turned = in_order_of(info.sizes, shape);
  return in_backticks(path) + " holds " + to_string(info.sizes) + ", and not " + to_string(shape) +
         (turned ? "; in its order the dims are " + to_string(*turned) : "");
}

// Of a file that is still to be written nothing tells the sizes but the call.
bool check_sized(const OpCall& call, const std::string& path, const Shape& shape, DiagSink& diags) {
  const auto open = std::ranges::find(shape.dims(), 0, &Dim::size);
  if (open == shape.dims().end()) {
    return true;
  }
  diags.error(DiagKind::kFile, call.span,
              in_backticks(path) + " is not there yet, so `" + open->name + "` has no size; `" +
                  open->name + ": 128` gives it one");
  return false;
}

std::optional<TensorType> load_type(OpCall& call, DiagSink& diags) {
  const std::string path = text_arg(call.args, "path");
  const NpyFile file(path);
  const Shape shape = with_sizes(shape_arg(call.args, "shape"), file.info().sizes);
  // A file that is still to be written can be planned for, if its dtype is known.
  const bool later = file.info().missing && call.args.find("dtype") != nullptr;
  const std::string problem = problem_of(path, file.info(), shape);
  if (!problem.empty() && !later) {
    diags.error(DiagKind::kFile, call.span, problem);
    return std::nullopt;
  }
  if (!check_sized(call, path, shape, diags)) {
    return std::nullopt;
  }
  call.args.set("shape", shape);
  return result_type(call, dtype_arg(call.args, "dtype", file.info().dtype), shape, diags);
}

std::optional<FilePlace> load_place(const OpCall& call) {
  const std::string path = text_arg(call.args, "path");
  const NpyFile file(path);
  const NpyInfo& info = file.info();
  const auto width = static_cast<std::int64_t>(bytes_of(info.dtype));
  const bool as_it_is =
      problem_of(path, info, call.result.shape).empty() && info.dtype == call.result.dtype &&
      info.data_begin % width == 0 && !info.is_unsigned && !info.is_big_endian &&
      !(info.in_fortran_order && info.sizes.size() > 1) && info.dtype != DType::kBool;
  return as_it_is ? std::optional(FilePlace{.path = path, .first = info.data_begin}) : std::nullopt;
}

// Reads runs of the slice that lie in one piece in the file, at most this many elements at a time.
constexpr std::int64_t kChunk = 1 << 16;

class SliceReader {
 public:
  // `out` has the dims in the order of the file.
  SliceReader(const NpyFile& file, const Shape& whole, const TensorView& out)
      : file_(file), out_(out), strides_(strides_of(whole)), run_dim_(whole.rank()) {
    while (run_dim_ > 0) {
      const std::size_t dim = --run_dim_;
      run_ *= out.shape[dim].size;
      if (out.shape[dim].size != whole[dim].size) {
        break;
      }
    }
  }

  // "" or what went wrong.
  std::string read() { return read_dim(0, 0); }

 private:
  std::string read_run(std::int64_t first) {
    const DType dtype = file_.info().dtype;
    const auto width = static_cast<std::int64_t>(bytes_of(dtype));
    for (std::int64_t i = 0; i < run_; i += kChunk) {
      const std::int64_t count = std::min(kChunk, run_ - i);
      chunk_.resize(static_cast<std::size_t>(count * width));
      if (std::string problem = file_.read(first + i, chunk_); !problem.empty()) {
        return problem;
      }
      cast_elements(dtype, out_.dtype, chunk_.data(), static_cast<std::size_t>(count),
                    at_mutable(out_, done_));
      done_ += count;
    }
    return "";
  }

  std::string read_dim(std::size_t dim, std::int64_t first) {
    if (dim == strides_.size()) {
      return read_run(first);
    }
    const std::int64_t offset = out_.offset.empty() ? 0 : out_.offset[dim];
    if (dim >= run_dim_) {
      return read_dim(dim + 1, first + offset * strides_[dim]);
    }
    for (std::int64_t i = 0; i < out_.shape[dim].size; ++i) {
      std::string problem = read_dim(dim + 1, first + (offset + i) * strides_[dim]);
      if (!problem.empty()) {
        return problem;
      }
    }
    return "";
  }

  const NpyFile& file_;
  const TensorView& out_;
  std::vector<std::int64_t> strides_;  // in the file
  std::size_t run_dim_;                // dims from here on are whole, but for the first of them
  std::int64_t run_ = 1;               // elements in one piece
  std::int64_t done_ = 0;
  std::vector<std::byte> chunk_;
};

Shape reversed(const Shape& shape) {
  return Shape(std::vector<Dim>(shape.dims().rbegin(), shape.dims().rend()));
}

// By way of the slice as the file has it. "" or what went wrong.
std::string read_turned(const NpyFile& file, const Shape& whole, const TensorView& out) {
  const auto width = static_cast<std::int64_t>(bytes_of(out.dtype));
  std::vector<std::byte> turned(static_cast<std::size_t>(out.shape.volume() * width));
  const TensorView view{.data = turned.data(),
                        .shape = reversed(out.shape),
                        .offset = {out.offset.rbegin(), out.offset.rend()},
                        .dtype = out.dtype};
  if (std::string problem = SliceReader(file, reversed(whole), view).read(); !problem.empty()) {
    return problem;
  }
  const std::vector<std::int64_t> from = strides_of(view.shape);
  const std::vector<std::int64_t> to = strides_of(out.shape);
  std::vector<StridedDim> dims;
  for (std::size_t d = 0; d < to.size(); ++d) {
    dims.push_back({.extent = out.shape[d].size, .from = from[to.size() - 1 - d], .to = to[d]});
  }
  if (!turned.empty()) {
    copy_strided(std::move(dims), static_cast<std::size_t>(width), turned.data(), out.data);
  }
  return "";
}

void load_kernel(const KernelCall& call) {
  const std::string path = text_arg(call.call.args, "path");
  const Shape& whole = call.call.result.shape;
  const NpyFile file(path);
  const std::string problem = problem_of(path, file.info(), whole);
  if (!problem.empty()) {
    fill_zero(call.out, false);
    return call.host.fail(DiagKind::kFile, problem);
  }
  const std::string failed = file.info().in_fortran_order
                                 ? read_turned(file, whole, call.out)
                                 : SliceReader(file, whole, call.out).read();
  if (!failed.empty()) {
    fill_zero(call.out, false);
    call.host.fail(DiagKind::kFile, in_backticks(path) + " " + failed);
  }
}

// ---- write -----------------------------------------------------------------------------------

std::optional<TensorType> write_type(OpCall& call, DiagSink& diags) {
  if (!text_arg(call.args, "path").empty()) {
    return TensorType{};
  }
  diags.error(DiagKind::kBadArgument, call.span, "`write` to a file without a name");
  return std::nullopt;
}

IterationSpace write_space(const OpCall& call) {
  IterationSpace space = whole_space(call);
  space.result.clear();
  return space;
}

void write_kernel(const KernelCall& call) {
  if (!call.host.first_rank()) {
    return;
  }
  const std::string path = text_arg(call.call.args, "path");
  const TensorType& type = call.call.operands[0];
  const std::span<const std::byte> data(at(call.in[0], 0), static_cast<std::size_t>(type.bytes()));
  const std::string problem = write_npy(path, type, data);
  if (!problem.empty()) {
    call.host.fail(DiagKind::kFile, in_backticks(path) + " cannot be written: " + problem);
  }
}

}  // namespace

const OpDef kLoad{.name = "load",
                  .summary = "a tensor from a .npy file; each rank reads its own slice",
                  .family = "files",
                  .params = {{.name = "path", .kind = ParamKind::kText, .help = "the file"},
                             {.name = "shape",
                              .kind = ParamKind::kNewShape,
                              .help = "the dims; one that is not declared has the file's size"},
                             {.name = "dtype",
                              .kind = ParamKind::kDType,
                              .required = false,
                              .help = "converts; then the file may come later (the file's)"}},
                  .shape_rule = "the shape",
                  .example = R"(dim io = 3
write("load_example.npy", const([io], [1, 2, 3]))
print load("load_example.npy", [io], dtype = f32)
)",
                  .type = load_type,
                  .space = kept_space,
                  .kernel = load_kernel,
                  .narrow = true,
                  .file = FileUse::kReads,
                  .place = load_place};

const OpDef kWrite{
    .name = "write",
    .summary = "writes a tensor to a .npy file, which gets its name only once it is complete",
    .family = "files",
    .params = {{.name = "path", .kind = ParamKind::kText, .help = "the file"},
               {.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"}},
    .shape_rule = "nothing",
    .example = R"(dim io = 3
write("write_example.npy", ones([io]))
print "written"
)",
    .type = write_type,
    .space = write_space,
    .kernel = write_kernel,
    .narrow = true,
    .file = FileUse::kWrites,
    .effect = true};

}  // namespace mtf::ops

// read_bytes, read_csv and append: plain files as tensors, and lines into them.

#include <algorithm>
#include <array>

#include "ir/kernel.h"
#include "ir/support/file.h"
#include "ir/support/files/file_form.h"
#include "ir/support/files/mapped_file.h"
#include "ir/support/number.h"
#include "runtime/kernels/strided.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/source/csv.h"
#include "stdlib/ops/source/sizes.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

void fail(const KernelCall& call, const std::string& problem) {
  fill_zero(call.out, false);
  call.host.fail(DiagKind::kFile, problem);
}

std::int64_t offset_of(const KernelCall& call, std::size_t dim) {
  return call.out.offset.empty() ? 0 : call.out.offset[dim];
}

// ---- read_bytes ------------------------------------------------------------------------------

std::optional<TensorType> bytes_type(OpCall& call, DiagSink& diags) {
  const std::string path = text_arg(call.args, "path");
  const PlainFile file(path);
  if (!file.problem().empty() || file.size() == 0) {
    diags.error(DiagKind::kFile, call.span,
                in_backticks(path) + " " +
                    (file.problem().empty() ? "is empty; a tensor has at least one element"
                                            : file.problem()));
    return std::nullopt;
  }
  const DType dtype = dtype_arg(call.args, "dtype", DType::kI32);
  if (dtype != DType::kU8 && dtype != DType::kI32) {
    diags.error(DiagKind::kBadArgument, call.span,
                spelled(call) +
                    " gives i32, or with `dtype = u8` the bytes as they are; `cast` "
                    "makes " +
                    std::string(to_string(dtype)) + " of them");
    return std::nullopt;
  }
  if (call.args.find("dim") == nullptr) {
    call.args.set("dim", one_dim({.name = "position", .size = 0}));
  }
  if (!fit_new_dim(call, "dim", file.size(), diags)) {
    return std::nullopt;
  }
  return result_type(call, dtype, Shape({dim_arg(call.args, "dim")}), diags);
}

std::optional<FilePlace> bytes_place(const OpCall& call) {
  const std::string path = text_arg(call.args, "path");
  const bool as_it_is =
      call.result.dtype == DType::kU8 && PlainFile(path).size() == call.result.shape.volume();
  return as_it_is ? std::optional(FilePlace{.path = path}) : std::nullopt;
}

void bytes_kernel(const KernelCall& call) {
  constexpr std::size_t kPiece = 1 << 16;
  const std::string path = text_arg(call.call.args, "path");
  const PlainFile file(path);
  if (file.size() != call.call.result.shape.volume()) {
    return fail(call, in_backticks(path) + (file.problem().empty()
                                                ? " has another size than when it was looked at"
                                                : " " + file.problem()));
  }
  const auto count = static_cast<std::size_t>(call.out.shape.volume());
  std::vector<std::byte> chunk;
  for (std::size_t done = 0; done < count; done += chunk.size()) {
    const auto at = static_cast<std::int64_t>(done);
    chunk.resize(std::min(kPiece, count - done));
    if (!file.read(offset_of(call, 0) + at, chunk)) {
      return fail(call, in_backticks(path) + " ended while it was read");
    }
    cast_elements(DType::kU8, call.out.dtype, chunk.data(), chunk.size(), at_mutable(call.out, at));
  }
}

// ---- read_csv --------------------------------------------------------------------------------

// Of a file that may be larger than memory: nothing of it is kept.
CsvTable table_of(const OpArgs& args, CsvRows rows = {}, const TakeRow& take = {}) {
  const std::string path = text_arg(args, "path");
  const std::string separator = text_arg(args, "separator");
  const PlainFile file(path);
  CsvTable table{.rows = 0, .columns = 0, .problem = file.problem()};
  if (table.problem.empty() && file.size() == 0) {
    table.problem = "has no row";
  } else if (table.problem.empty()) {
    const MappedFile text(path, 0, file.size());
    table.problem = text.problem();
    if (table.problem.empty()) {
      const std::string_view all(reinterpret_cast<const char*>(text.data()),
                                 static_cast<std::size_t>(text.bytes()));
      const CsvForm form{.header = bool_arg(args, "header", false),
                         .separator = separator.empty() ? ',' : separator.front(),
                         .dtype = dtype_arg(args, "dtype", DType::kF32)};
      table = read_csv(all, form, rows, take);
      const std::string change = text.change();
      table.problem = change.empty() ? table.problem : change;
    }
  }
  if (!table.problem.empty()) {
    table.problem = in_backticks(path) + (table.problem.front() == ':' ? "" : " ") + table.problem;
  }
  return table;
}

bool same_sizes(const Shape& shape, const CsvTable& table) {
  const bool is_line = shape.rank() == 1 && (table.rows == 1 || table.columns == 1) &&
                       shape[0].size == table.rows * table.columns;
  return is_line ||
         (shape.rank() == 2 && shape[0].size == table.rows && shape[1].size == table.columns);
}

// One dim lies along the only row, or column.
Shape csv_shape(const Shape* given, const CsvTable& table) {
  if (given == nullptr) {
    return Shape({{.name = "row", .size = table.rows}, {.name = "column", .size = table.columns}});
  }
  const bool is_line = given->rank() == 1 && (table.rows == 1 || table.columns == 1);
  return is_line ? with_sizes(*given, std::array{table.rows * table.columns})
                 : with_sizes(*given, std::array{table.rows, table.columns});
}

std::optional<TensorType> csv_type(OpCall& call, DiagSink& diags) {
  if (text_arg(call.args, "separator").size() > 1) {
    diags.error(DiagKind::kBadArgument, call.span,
                "the separator of " + spelled(call) + R"( is one character, as ";" or "\t")");
    return std::nullopt;
  }
  const CsvTable table = table_of(call.args);
  if (!table.problem.empty()) {
    diags.error(DiagKind::kFile, call.span, table.problem);
    return std::nullopt;
  }
  const Shape shape = csv_shape(call.args.get<Shape>("shape"), table);
  if (!same_sizes(shape, table)) {
    diags.error(DiagKind::kFile, call.span,
                in_backticks(text_arg(call.args, "path")) + " holds " + plural(table.rows, "row") +
                    " of " + std::to_string(table.columns) + ", and not " + to_string(shape));
    return std::nullopt;
  }
  const DType dtype = dtype_arg(call.args, "dtype", DType::kF32);
  call.args.set("shape", shape);
  return result_type(call, dtype, shape, diags);
}

// The part of a whole row of a table that is the rank's.
struct CsvPart {
  CsvRows rows;
  std::int64_t first = 0;  // of its columns
  std::int64_t columns = 0;
};

// Of a line, whose numbers are one row or one column of the table, the dim is either.
CsvPart csv_part(const KernelCall& call) {
  const Shape& local = call.out.shape;
  const std::size_t last = local.rank() - 1;
  const bool is_column = last == 0 && table_of(call.call.args, {.first = 0, .end = 1}).columns == 1;
  CsvPart part{
      .rows = {.first = 0, .end = 1}, .first = offset_of(call, last), .columns = local[last].size};
  if (last > 0 || is_column) {
    part.rows = {.first = offset_of(call, 0), .end = offset_of(call, 0) + local[0].size};
  }
  if (is_column) {
    part.first = 0;
    part.columns = 1;
  }
  return part;
}

void csv_kernel(const KernelCall& call) {
  const CsvPart part = csv_part(call);
  std::int64_t done = 0;
  const CsvTable table = table_of(call.call.args, part.rows, [&](const CsvRow& row) {
    const auto first = static_cast<std::size_t>(part.first);
    const auto columns = static_cast<std::size_t>(part.columns);
    if (row.numbers.size() < first + columns) {
      return;
    }
    if (row.whole.empty()) {
      cast_elements(DType::kF64, call.out.dtype, &row.numbers[first], columns,
                    at_mutable(call.out, done));
    } else {
      cast_elements(DType::kI64, call.out.dtype, &row.whole[first], columns,
                    at_mutable(call.out, done));
    }
    done += part.columns;
  });
  if (!table.problem.empty() || done != call.out.shape.volume()) {
    fail(call, table.problem.empty() ? in_backticks(text_arg(call.call.args, "path")) +
                                           " has other sizes than when it was looked at"
                                     : table.problem);
  }
}

// ---- append ----------------------------------------------------------------------------------

// "" or what is there that a line would damage.
std::string no_text_there(const std::string& path) {
  const PlainFile file(path);
  std::array<std::byte, kTextBytes> begin{};
  const auto bytes = std::min<std::int64_t>(file.size(), kTextBytes);
  const std::span<std::byte> start = std::span(begin).first(static_cast<std::size_t>(bytes));
  const std::string other = file.read(0, start) ? no_text(start) : "";
  return other.empty() ? "" : "it " + other;
}

std::string cannot_append(const std::string& path, const std::string& problem) {
  return "nothing can be appended to " + in_backticks(path) + ": " + problem;
}

std::optional<TensorType> append_type(OpCall& call, DiagSink& diags) {
  const std::string path = text_arg(call.args, "path");
  if (path.empty()) {
    diags.error(DiagKind::kBadArgument, call.span, "`append` to a file without a name");
    return std::nullopt;
  }
  if (const std::string other = no_text_there(path); !other.empty()) {
    diags.error(DiagKind::kFile, call.span, cannot_append(path, other));
    return std::nullopt;
  }
  return TensorType{};
}

// What is there may have been written since the program was checked.
void append_kernel(const KernelCall& call) {
  if (!call.host.first_rank()) {
    return;
  }
  const std::string path = text_arg(call.call.args, "path");
  std::string problem = no_text_there(path);
  if (problem.empty()) {
    problem = append_line(path, text_arg(call.call.args, "line"));
  }
  if (!problem.empty()) {
    call.host.fail(DiagKind::kFile, cannot_append(path, problem));
  }
}

}  // namespace

const OpDef kReadBytes{.name = "read_bytes",
                       .summary = "the bytes of a file, 0 to 255; each rank reads its own slice",
                       .family = "files",
                       .params = {{.name = "path", .kind = ParamKind::kText, .help = "the file"},
                                  {.name = "dim",
                                   .kind = ParamKind::kNewDim,
                                   .required = false,
                                   .help = "the dim they lie along (position)"},
                                  {.name = "dtype",
                                   .kind = ParamKind::kDType,
                                   .required = false,
                                   .help = "u8: as they are, mapped into memory (i32)"}},
                       .shape_rule = "[position: N] for N bytes, as i32",
                       .example = R"(append("read_bytes_example.txt", "abc")
print read_text("read_bytes_example.txt")
)",
                       .type = bytes_type,
                       .space = kept_space,
                       .kernel = bytes_kernel,
                       .file = FileUse::kReads,
                       .place = bytes_place};

const OpDef kReadCsv{
    .name = "read_csv",
    .summary = "a table of numbers from a text file, one row a line",
    .family = "files",
    .params = {{.name = "path", .kind = ParamKind::kText, .help = "the file"},
               {.name = "shape",
                .kind = ParamKind::kNewShape,
                .required = false,
                .help = "the dims; one that is not declared has the file's size ([row: N, column: "
                        "M])"},
               {.name = "header",
                .kind = ParamKind::kBool,
                .required = false,
                .help = "the first line names the columns, and is left out (false)"},
               {.name = "separator",
                .kind = ParamKind::kText,
                .required = false,
                .help = "the character between columns; blanks count as one (\",\")"},
               {.name = "dtype",
                .kind = ParamKind::kDType,
                .required = false,
                .help = "of the numbers (f32)"}},
    .shape_rule = "the shape; without one [row: N, column: M]",
    .example = R"(append("read_csv_example.csv", "1, 2.5")
print read_text("read_csv_example.csv")
)",
    .type = csv_type,
    .space = kept_space,
    .kernel = csv_kernel,
    .narrow = true,
    .file = FileUse::kReads};

const OpDef kAppend{
    .name = "append",
    .summary =
        "a line at the end of a text file, which is made if it is not there; another file is "
        "refused",
    .family = "files",
    .params = {{.name = "path", .kind = ParamKind::kText, .help = "the file"},
               {.name = "line", .kind = ParamKind::kText, .help = "the line, without its end"}},
    .shape_rule = "nothing",
    .example = R"(append("append_example.csv", "step, loss")
print "appended"
)",
    .type = append_type,
    .space = whole_space,
    .kernel = append_kernel,
    .file = FileUse::kWrites,
    .effect = true};

}  // namespace mtf::ops

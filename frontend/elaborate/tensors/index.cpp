// x[batch: 3], x[sample: 0..32 as batch], list[0].

#include <algorithm>
#include <span>

#include "frontend/elaborate/evaluate.h"

namespace mtf::host {
namespace {

struct IndexSite {
  Context& c;
  const ast::IndexItem& item;
  SourceSpan span;
  std::span<const ast::IndexItem> before = {};  // in the same brackets
};

void wrong_index(const IndexSite& site, std::int64_t at, std::size_t size, std::string_view what) {
  site.c.report.error(DiagKind::kBadIndex, site.item.value.span,
                      "index " + std::to_string(at) + " of " + std::string(what) + " of " +
                          std::to_string(size) + "; they are numbered from 0");
}

// From the end, if negative, as in Python.
std::optional<std::size_t> position(const IndexSite& site, const Value& index, std::size_t size,
                                    std::string_view what) {
  const std::optional<std::int64_t> at = as_int(index);
  if (!at) {
    if (!index.is<Unknown>()) {
      site.c.report.error(
          DiagKind::kWrongType, site.item.value.span,
          "the index of " + std::string(what) + " is an int; this is " + kind_of(index));
    }
    return std::nullopt;
  }
  const auto count = static_cast<std::int64_t>(size);
  const std::int64_t from_start = *at < 0 ? *at + count : *at;
  if (from_start < 0 || from_start >= count) {
    wrong_index(site, *at, size, what);
    return std::nullopt;
  }
  return static_cast<std::size_t>(from_start);
}

Values elements_of(const Value& value) {
  if (const auto* shape = value.get<Shape>()) {
    return dim_values(*shape);
  }
  return *value.get<List>()->items;
}

Value index_list(const IndexSite& site, const Value& list) {
  const std::string_view what = list.is<Shape>() ? "a shape" : "a list";
  if (site.item.dim) {
    site.c.report.error(DiagKind::kBadIndex, site.item.dim->span,
                        "`" + site.item.dim->text + ":` picks from a tensor; " + std::string(what) +
                            " is indexed by number");
    return unknown();
  }
  const Values items = elements_of(list);
  const Value index = evaluate(site.c, site.item.value);
  if (const auto* range = index.get<Range>()) {
    const auto size = static_cast<std::int64_t>(items.size());
    if (range->begin < 0 || range->end > size || range->begin > range->end) {
      wrong_index(site, range->begin < 0 ? range->begin : range->end, items.size(), what);
      return unknown();
    }
    if (const auto* shape = list.get<Shape>()) {
      return make(
          Shape({shape->dims().begin() + range->begin, shape->dims().begin() + range->end}));
    }
    return make_list(Values(items.begin() + range->begin, items.begin() + range->end));
  }
  const std::optional<std::size_t> at = position(site, index, items.size(), what);
  return at ? items[*at] : unknown();
}

// The dim that the name stands for, if it is a parameter, say; else the name itself.
std::string dim_name(const Names& names, Units& units, const ast::Name& name, const Shape& shape) {
  const std::optional<Dim> dim = find_dim(names, units, name.text);
  return dim && shape.has(dim->name) ? dim->name : name.text;
}

// What may have been meant by a range that does not fit: one that counts from the end, as in NumPy.
std::string range_hint(const Range& range, std::int64_t size) {
  const auto from_start = [size](std::int64_t end) { return end < 0 ? end + size : end; };
  const Range meant{.begin = from_start(range.begin), .end = from_start(range.end)};
  const bool counts_back = range.begin < 0 || range.end < 0;
  if (counts_back && meant.begin >= 0 && meant.begin < meant.end && meant.end <= size) {
    return "; both ends count from 0: `" + to_string(make(meant)) + "`";
  }
  return range.begin >= range.end ? "; the range is empty" : "";
}

Value index_range(const IndexSite& site, const Operand& base, const Dim& dim, const Range& range) {
  Context& c = site.c;
  if (range.begin < 0 || range.end > dim.size || range.begin >= range.end) {
    c.report.error(DiagKind::kBadIndex, site.item.value.span,
                   to_string(make(range)) + " of `" + dim.name + "`, which has size " +
                       std::to_string(dim.size) + range_hint(range, dim.size));
    return unknown();
  }
  OpArgs args;
  args.set("dim", std::vector{dim});
  args.set("begin", range.begin);
  args.set("end", range.end);
  if (site.item.as) {
    const Dim as = find_dim(c.names, c.units, site.item.as->text)
                       .value_or(Dim{.name = site.item.as->text, .size = range.end - range.begin});
    c.names.dims.insert(as.name);
    args.set("to", std::vector{as});
  }
  return apply_op(c.units, op_of(c.units.ops, Primitive::kSlice), {&base, 1}, std::move(args),
                  site.span);
}

void index_is_tensor(const IndexSite& site, const Tensor& index, const std::string& dim) {
  const bool is_mask = index.type.dtype == DType::kBool;
  site.c.report.error(
      DiagKind::kWrongType, site.item.value.span,
      is_mask ? "a mask takes no elements out, as nobody knows how many there are; `where(mask, x, "
                "0)` leaves the others out of a sum"
              : "the index is a tensor; `gather(x, index, over = " + dim + ")` looks elements up");
}

// x[3]   x[ids]   x[x > 0]
void without_dim(const IndexSite& site, const Tensor& tensor) {
  const Shape& shape = tensor.type.shape;
  const Value index = evaluate(site.c, site.item.value);
  if (is_unknown(index)) {
    return;
  }
  if (shape.rank() == 0) {
    site.c.report.error(
        DiagKind::kBadIndex, site.item.span,
        "an index picks along a dim, and " + mtf::to_string(tensor.type) + " has none");
    return;
  }
  const std::string& first = shape[0].name;
  if (const auto* places = index.get<Tensor>()) {
    index_is_tensor(site, *places, first);
  } else {
    site.c.report.error(
        DiagKind::kBadIndex, site.item.span,
        "say which dim of " + mtf::to_string(tensor.type) + " is meant, as in [" + first + ": 0]");
  }
}

void no_such_dim(const IndexSite& site, const Tensor& tensor, const std::string& name) {
  Reporter& report = site.c.report;
  const SourceSpan span = site.item.dim->span;
  const auto same = [&](const ast::IndexItem& item) {
    return item.dim && item.dim->text == site.item.dim->text;
  };
  if (const auto before = std::ranges::find_if(site.before, same); before != site.before.end()) {
    report.error(DiagKind::kRepeatedDim, span,
                 "`" + name + "` stands twice in this index, which picks along each dim once",
                 {{.span = before->dim->span, .text = "first here"}});
    return;
  }
  const Suggestion suggestion = suggest(name, names_of(tensor.type.shape.dims()));
  report.error(DiagKind::kUnknownDim, span,
               "`" + name + "` is not in " + mtf::to_string(tensor.type) + suggestion.text, {},
               suggestion.fix);
}

Value index_tensor(const IndexSite& site, const Operand& base, const Tensor& tensor) {
  Context& c = site.c;
  const Shape& shape = tensor.type.shape;
  if (!site.item.dim) {
    without_dim(site, tensor);
    return unknown();
  }
  const std::string name = dim_name(c.names, c.units, *site.item.dim, shape);
  const Dim* dim = shape.find(name);
  if (dim == nullptr) {
    no_such_dim(site, tensor, name);
    return unknown();
  }
  const Value index = evaluate(c, site.item.value);
  if (index.is<Unknown>()) {
    return unknown();
  }
  if (const auto* range = index.get<Range>()) {
    return index_range(site, base, *dim, *range);
  }
  if (site.item.as) {
    c.report.error(DiagKind::kBadIndex, site.item.as->span,
                   "`as` renames a range; one index leaves no dim");
    return unknown();
  }
  if (const auto* places = index.get<Tensor>()) {
    index_is_tensor(site, *places, name);
    return unknown();
  }
  const auto at =
      position(site, index, static_cast<std::size_t>(dim->size), "the dim `" + name + "`");
  if (!at) {
    return unknown();
  }
  OpArgs args;
  args.set("dim", std::vector{*dim});
  args.set("at", static_cast<std::int64_t>(*at));
  return apply_op(c.units, op_of(c.units.ops, Primitive::kIndex), {&base, 1}, std::move(args),
                  site.span);
}

}  // namespace

Value evaluate_index(Context& c, const Operand& base, const ast::Index& index, SourceSpan span) {
  Operand current = base;
  for (const ast::IndexItem& item : index.items) {
    const auto at = static_cast<std::size_t>(&item - index.items.data());
    const IndexSite site{
        .c = c, .item = item, .span = span, .before = std::span(index.items).first(at)};
    if (is_unknown(current.value)) {
      return unknown();
    }
    if (const auto* tensor = current.value.get<Tensor>()) {
      const Tensor copy = *tensor;
      current.value = index_tensor(site, current, copy);
    } else if (current.value.is<List>() || current.value.is<Shape>()) {
      current.value = index_list(site, current.value);
    } else {
      c.report.error(
          DiagKind::kWrongType, base.span,
          kind_of(current.value) + " has no elements to pick from" +
              (current.value.is<std::string>() ? "; `list(…)` of it is the list of its characters"
                                               : ""));
      return unknown();
    }
  }
  return current.value;
}

}  // namespace mtf::host

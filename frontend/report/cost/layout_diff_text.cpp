// The totals side by side, then what they come from.

#include <algorithm>

#include "frontend/report/cost/layout_diff.h"
#include "frontend/report/quantity.h"
#include "ir/support/columns.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

std::string name_of(const Cost& cost) {
  return cost.program.layout.empty() ? "one rank" : cost.program.layout;
}

std::string side_text(const Cost& cost) {
  const bool alone = cost.program.layout.empty();
  return alone ? "one rank" : cost.program.layout + " on " + to_string(cost.program.mesh);
}

std::string arrow(const std::string& before, const std::string& after) {
  return before == after ? before : before + " -> " + after;
}

// "x 0.50"; empty where nothing changes, or there was nothing.
std::string factor_text(double before, double after) {
  if (before == after || before == 0 || after == 0) {
    return "";
  }
  const double factor = after / before;
  return "x " + fixed(factor, factor < 99.5 ? 2 : 0);
}

std::int64_t variable_bytes(const SpmdProgram& program) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.source.inputs[i].is_variable()) {
      bytes += program.at(program.inputs[i]).local.bytes();
    }
  }
  return bytes;
}

Row bytes_row(const std::string& name, std::int64_t before, std::int64_t after) {
  return {name, bytes_text(before), bytes_text(after),
          factor_text(static_cast<double>(before), static_cast<double>(after))};
}

// ---- collectives by kind and axes ----

struct KindRow {
  std::string name;
  StepKind kind{};
  CollectiveTotal before;
  CollectiveTotal after;
};

void add_totals(std::vector<KindRow>& rows, const SpmdProgram& program,
                CollectiveTotal KindRow::*side) {
  for (const CollectiveTotal& total : program.totals.collectives) {
    const std::string name =
        std::string(to_string(total.kind)) + " over " + to_string(program.mesh, total.axes);
    auto row = std::ranges::find(rows, name, &KindRow::name);
    if (row == rows.end()) {
      rows.push_back({.name = name, .kind = total.kind});
      row = std::prev(rows.end());
    }
    (*row).*side = total;
  }
}

std::string total_text(const CollectiveTotal& total) {
  return total.calls == 0 ? "none"
                          : count_text(total.calls, "call") + ", " + bytes_text(total.bytes);
}

void add_kinds(std::vector<Row>& rows, const LayoutDiff& diff) {
  std::vector<KindRow> kinds;
  add_totals(kinds, diff.before->program, &KindRow::before);
  add_totals(kinds, diff.after->program, &KindRow::after);
  std::ranges::stable_sort(kinds, {}, &KindRow::kind);
  for (const KindRow& kind : kinds) {
    rows.push_back({kind.name, total_text(kind.before), total_text(kind.after),
                    factor_text(static_cast<double>(kind.before.bytes),
                                static_cast<double>(kind.after.bytes))});
  }
}

std::string totals_text(const LayoutDiff& diff) {
  const SpmdProgram& before = diff.before->program;
  const SpmdProgram& after = diff.after->program;
  const auto flops = [](double number) {
    const std::string text = flops_text(number);
    return text.empty() ? "none" : text;
  };
  const double seconds_before = diff.before->prices.seconds();
  const double seconds_after = diff.after->prices.seconds();
  std::vector<Row> rows = {
      {"", name_of(*diff.before), name_of(*diff.after), ""},
      {"ranks", count_text(before.mesh.ranks()), count_text(after.mesh.ranks()), ""},
      {"compute", flops(before.totals.flops), flops(after.totals.flops),
       factor_text(before.totals.flops, after.totals.flops)},
      bytes_row("peak memory", before.totals.peak_bytes, after.totals.peak_bytes),
      bytes_row("variables", variable_bytes(before), variable_bytes(after)),
      bytes_row("received", diff.before->received_bytes(), diff.after->received_bytes())};
  add_kinds(rows, diff);
  rows.push_back({"time on " + arrow(diff.before->hardware.name, diff.after->hardware.name),
                  seconds_text(seconds_before), seconds_text(seconds_after),
                  factor_text(seconds_before, seconds_after)});
  return in_columns(rows, {.gap = 3, .right = {1, 2, 3}});
}

// ---- what changes ----

std::string what_text(const PlannedCollective& one) {
  std::string axes;
  for (const std::string& axis : one.axes) {
    axes += (axes.empty() ? "" : ", ") + axis;
  }
  return std::string(to_string(one.kind)) + " over " + axes;
}

Row change_row(const CollectiveChange& change, const SourceMap& sources) {
  const PlannedCollective& any = change.any();
  const bool both = change.before && change.after;
  const std::string what =
      both ? arrow(what_text(*change.before), what_text(*change.after)) : what_text(any);
  const std::string bytes =
      both ? arrow(bytes_text(change.before->bytes), bytes_text(change.after->bytes))
           : bytes_text(any.bytes);
  const std::string more =
      change.count > 1 ? " and " + std::to_string(change.count - 1) + " more" : "";
  return {both           ? "~"
          : change.after ? "+"
                         : "-",
          any.value + more, what, bytes, any.why.empty() ? sources.short_place(any.span) : any.why};
}

std::string changes_text(const LayoutDiff& diff, const SourceMap& sources) {
  std::vector<Row> rows;
  for (const CollectiveChange& change : diff.collectives) {
    rows.push_back(change_row(change, sources));
  }
  std::string text = "\ncollectives\n" + in_columns(rows, {.widest = 64});
  if (diff.unchanged > 0) {
    text += "  = " + count_text(diff.unchanged) + " as before\n";
  }
  return text;
}

std::string variables_text(const LayoutDiff& diff) {
  std::vector<Row> rows;
  for (const VariableChange& change : diff.variables) {
    rows.push_back({change.name, arrow(change.before, change.after),
                    arrow(bytes_text(change.bytes_before), bytes_text(change.bytes_after))});
  }
  return "\nvariables at rest\n" + in_columns(rows, {.widest = 96});
}

}  // namespace

std::string diff_text(const LayoutDiff& diff, const SourceMap& sources) {
  std::string text = diff.entry + ": " + side_text(*diff.before) + " -> " + side_text(*diff.after) +
                     "\n\nper rank\n" + totals_text(diff);
  if (!diff.collectives.empty() || diff.unchanged > 0) {
    text += changes_text(diff, sources);
  }
  if (!diff.variables.empty()) {
    text += variables_text(diff);
  }
  return text;
}

}  // namespace mtf

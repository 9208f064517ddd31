#include "frontend/elaborate/layouts/expect.h"

#include <algorithm>
#include <array>

#include "frontend/elaborate/evaluate.h"
#include "frontend/elaborate/tensors/units.h"
#include "ir/support/units.h"

namespace mtf::host {
namespace {

struct Subject {
  std::string_view name;
  Measure measure{};
};
constexpr std::array kSubjects = std::to_array<Subject>({{"collectives", Measure::kCalls},
                                                         {"received", Measure::kBytes},
                                                         {"peak_memory", Measure::kPeakMemory},
                                                         {"flops", Measure::kFlops},
                                                         {"parameters", Measure::kParameters}});
// Around collectives: bytes(all_reduce(cols)).
constexpr std::array kMeasures = std::to_array<Subject>(
    {{"bytes", Measure::kBytes}, {"elements", Measure::kElements}, {"calls", Measure::kCalls}});

struct UnitOf {
  std::string_view name;
  Measure measure{};
  double factor = 1;
};
constexpr auto kUnits = [] {
  std::array<UnitOf, kByteUnits.size() + kFlopUnits.size()> units{};
  std::size_t count = 0;
  for (const auto& [name, factor] : kByteUnits) {
    units[count++] = {name, Measure::kBytes, factor};
  }
  for (const auto& [name, factor] : kFlopUnits) {
    units[count++] = {name, Measure::kFlops, factor};
  }
  return units;
}();

std::vector<std::string> all_subjects() {
  std::vector<std::string> names(kCollectiveKinds.begin(), kCollectiveKinds.end());
  std::ranges::move(names_of(kSubjects), std::back_inserter(names));
  return names;
}

// A name, or a call of one with names: all_reduce(rows, cols).
struct Form {
  std::string name;
  SourceSpan span;
  const ast::Call* call = nullptr;
};

std::optional<Form> form_of(const ast::Expr& expr) {
  if (const auto* name = std::get_if<ast::NameRef>(&expr.node)) {
    return Form{.name = name->text, .span = expr.span};
  }
  const auto* postfix = std::get_if<ast::Postfix>(&expr.node);
  const auto* base = postfix == nullptr ? nullptr : std::get_if<ast::NameRef>(&postfix->base->node);
  const auto* call = base == nullptr || postfix->suffixes.size() != 1
                         ? nullptr
                         : std::get_if<ast::Call>(&postfix->suffixes.front().node);
  const bool plain = call != nullptr && !call->target && !call->name && !call->arguments.empty() &&
                     std::ranges::none_of(call->arguments, [](const ast::Argument& argument) {
                       return argument.name.has_value();
                     });
  if (!plain) {
    return std::nullopt;
  }
  return Form{.name = base->text, .span = postfix->base->span, .call = call};
}

class ClauseReader {
 public:
  ClauseReader(Context& c, const ast::Clause& clause) : c_(c), clause_(clause) {
    result_.span = clause.span;
    result_.relation = static_cast<Relation>(static_cast<int>(clause.relation) -
                                             static_cast<int>(ast::BinaryOp::kEqual));
  }

  std::optional<Expectation> run() {
    if (!subject(clause_.subject) || !bound()) {
      return std::nullopt;
    }
    const std::string& text = c_.modules.sources.file(clause_.span.file).text;
    result_.text = text.substr(clause_.span.begin, clause_.span.end - clause_.span.begin);
    return std::move(result_);
  }

 private:
  bool subject(const ast::Expr& expr) {
    const std::optional<Form> form = form_of(expr);
    if (!form) {
      c_.report.error(DiagKind::kSyntax, expr.span,
                      "`expect` knows collectives, as `all_reduce(cols)`, and " +
                          quoted_list(names_of(kSubjects)));
      return false;
    }
    const auto* measure = std::ranges::find(kMeasures, form->name, &Subject::name);
    if (measure != kMeasures.end() && form->call != nullptr && form->call->arguments.size() == 1) {
      result_.measure = measure->measure;
      const ast::Expr& inner = form->call->arguments.front().value;
      const std::optional<Form> of = form_of(inner);
      if (of && (of->name == "collectives" || is_kind(of->name))) {
        return collectives(*of);
      }
      c_.report.error(DiagKind::kWrongType, inner.span,
                      "`" + form->name + "` is of collectives: `" + form->name + "(all_reduce)`");
      return false;
    }
    const auto* known = std::ranges::find(kSubjects, form->name, &Subject::name);
    if (known != kSubjects.end()) {
      result_.measure = known->measure;
      if (form->call != nullptr && form->name != "collectives") {
        c_.report.error(DiagKind::kSyntax, expr.span, "`" + form->name + "` takes no axes");
        return false;
      }
      return collectives(*form);
    }
    if (!is_kind(form->name)) {
      return unknown_subject(*form);
    }
    result_.measure = Measure::kCalls;
    return collectives(*form);
  }

  static bool is_kind(std::string_view name) {
    return std::ranges::find(kCollectiveKinds, name) != kCollectiveKinds.end();
  }

  bool unknown_subject(const Form& form) {
    const std::vector<std::string> names = all_subjects();
    const Suggestion suggestion = suggest(form.name, names);
    c_.report.error(
        DiagKind::kUnknownName, form.span,
        "`expect` does not know `" + form.name + "`" +
            (suggestion.text.empty() ? "; it knows " + quoted_list(names) : suggestion.text),
        {}, suggestion.fix);
    return false;
  }

  // The kind, and the axes that some mesh must have.
  bool collectives(const Form& form) {
    result_.kind = is_kind(form.name) ? form.name : "";
    if (form.call == nullptr) {
      return true;
    }
    std::vector<std::string> known;
    for (const Mesh& mesh : c_.layouts.meshes) {
      std::ranges::move(names_of(mesh.axes), std::back_inserter(known));
    }
    result_.axes.emplace();
    for (const ast::Argument& argument : form.call->arguments) {
      const auto* axis = std::get_if<ast::NameRef>(&argument.value.node);
      if (axis == nullptr) {
        c_.report.error(DiagKind::kWrongType, argument.span, "an axis of a mesh is a name");
        return false;
      }
      if (std::ranges::find(known, axis->text) == known.end()) {
        const Suggestion suggestion = suggest(axis->text, known);
        c_.report.error(DiagKind::kUnknownAxis, argument.span,
                        "no mesh has an axis `" + axis->text + "`" + suggestion.text, {},
                        suggestion.fix);
        return false;
      }
      result_.axes->push_back(axis->text);
    }
    return true;
  }

  bool bound() {
    const Value value = evaluate(c_, clause_.bound);
    if (is_unknown(value)) {
      return false;
    }
    const auto* whole = value.get<std::int64_t>();
    const auto* real = value.get<double>();
    const auto* dim = value.get<Dim>();
    if (whole == nullptr && real == nullptr && dim == nullptr) {
      c_.report.error(DiagKind::kWrongType, clause_.bound.span, "what is expected is a number");
      return false;
    }
    result_.bound = whole != nullptr  ? static_cast<double>(*whole)
                    : real != nullptr ? *real
                                      : static_cast<double>(dim->size);
    return !clause_.unit || unit(*clause_.unit);
  }

  bool unit(const ast::Name& name) {
    const auto* found = std::ranges::find(kUnits, name.text, &UnitOf::name);
    if (found == kUnits.end()) {
      const std::vector<std::string> names = names_of(kUnits);
      const Suggestion suggestion = suggest(name.text, names);
      c_.report.error(
          DiagKind::kUnknownName, name.span,
          "there is no unit `" + name.text + "`" +
              (suggestion.text.empty() ? "; there is " + quoted_list(names) : suggestion.text),
          {}, suggestion.fix);
      return false;
    }
    const bool in_bytes =
        result_.measure == Measure::kBytes || result_.measure == Measure::kPeakMemory;
    const bool fits =
        found->measure == Measure::kBytes ? in_bytes : result_.measure == Measure::kFlops;
    if (!fits) {
      const std::string what = "`" + ast::to_string(clause_.subject) + "`";
      c_.report.error(DiagKind::kWrongType, name.span,
                      what + " is " +
                          (in_bytes                             ? "in bytes: `KiB`, `MiB`, `GiB`"
                           : result_.measure == Measure::kFlops ? "in operations: `MFLOP`, `GFLOP`"
                                                                : "a count, without a unit"));
      return false;
    }
    result_.bound *= found->factor;
    return true;
  }

  Context& c_;
  const ast::Clause& clause_;
  Expectation result_;
};

}  // namespace

void run_expect(Context& c, const ast::Expect& expect, SourceSpan span) {
  const bool inside =
      c.units.in_function() || c.units.frame >= 0;  // also in a call that a gradient takes in
  if (inside == expect.entry.has_value()) {
    c.report.error(DiagKind::kSyntax, span,
                   inside ? "in a function, `expect { … }` is about that function and names none"
                          : "at top level, `expect` names the entry that it is about: "
                            "`expect train_step { … }`");
    return;
  }
  Contract contract;
  if (expect.entry) {
    contract.entry = expect.entry->text;
    contract.entry_span = expect.entry->span;
  }
  for (const ast::Name& layout : expect.layouts) {
    contract.layouts.push_back(layout.text);
    c.layouts.expected.insert(layout.text);
    contract.layout_spans.push_back(layout.span);
  }
  for (const ast::Clause& clause : expect.clauses) {
    if (std::optional<Expectation> read = ClauseReader(c, clause).run()) {
      contract.clauses.push_back(*std::move(read));
    }
  }
  if (!inside) {
    c.contracts.push_back(std::move(contract));
  } else if (c.units.frame < 0) {  // else another one called the function
    c.units.recording().unit->contracts.push_back(std::move(contract));
  }
}

}  // namespace mtf::host

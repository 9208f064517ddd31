#include "frontend/elaborate/layouts/hardware.h"

#include <algorithm>
#include <array>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/names/modules.h"
#include "ir/layout/expectation.h"

namespace mtf::host {
namespace {

constexpr std::string_view kModule = "hardware";

// One argument of hardware_profile(…): its name, whether it must be given, and where it goes.
// False: the value is not of the kind that `wanted` says.
struct Field {
  std::string_view name;
  bool required = false;
  std::string_view wanted;
  bool (*set)(Hardware&, const Value&);
};

// What times stay finite with, of whatever program.
constexpr double kLeast = 1e-30;
constexpr double kMost = 1e30;

std::optional<double> positive(const Value& value) {
  const std::optional<double> number = as_real(value);
  return number && *number >= kLeast && *number <= kMost ? number : std::nullopt;
}

std::optional<std::int64_t> whole(const Value& value) {
  const std::optional<std::int64_t> number = as_int(value);
  return number && *number > 0 ? number : std::nullopt;
}

const Values* items_of(const Value& value, std::size_t count = 0) {
  const auto* list = value.get<List>();
  return list == nullptr || (count != 0 && list->items->size() != count) ? nullptr
                                                                         : list->items.get();
}

// [[size, value], …] by rising size.
std::optional<Curve> curve_of(const Value& value) {
  const Values* points = items_of(value);
  Curve curve;
  for (std::size_t i = 0; points != nullptr && i < points->size(); ++i) {
    const Values* pair = items_of((*points)[i], 2);
    const std::optional<double> size = pair == nullptr ? std::nullopt : positive(pair->front());
    const std::optional<double> rate = pair == nullptr ? std::nullopt : positive(pair->back());
    if (!size || !rate || (!curve.empty() && *size <= curve.back().first)) {
      return std::nullopt;
    }
    curve.emplace_back(*size, *rate);
  }
  return curve.empty() ? std::nullopt : std::optional(std::move(curve));
}

bool set_curve(Curve& curve, const Value& value) {
  if (const std::optional<double> number = positive(value)) {
    curve = {{1, *number}};
    return true;
  }
  std::optional<Curve> points = curve_of(value);
  curve = points ? *std::move(points) : Curve();
  return !curve.empty();
}

bool set_elements(Hardware& hardware, const Value& value) {
  const Values* rows = items_of(value);
  for (std::size_t i = 0; rows != nullptr && i < rows->size(); ++i) {
    const Values* pair = items_of((*rows)[i], 2);
    const auto* op = pair == nullptr ? nullptr : pair->front().get<std::string>();
    const std::optional<double> seconds = op == nullptr ? std::nullopt : positive(pair->back());
    if (!seconds) {
      return false;
    }
    hardware.elements.emplace_back(*op, *seconds);
  }
  return rows != nullptr;
}

bool set_collectives(Hardware& hardware, const Value& value) {
  constexpr std::size_t kParts = 3;
  const Values* rows = items_of(value);
  for (std::size_t i = 0; rows != nullptr && i < rows->size(); ++i) {
    const Values* row = items_of((*rows)[i], kParts);
    const auto* kind = row == nullptr ? nullptr : row->front().get<std::string>();
    const auto ranks = kind == nullptr ? std::nullopt : whole((*row)[1]);
    std::optional<Curve> seconds = ranks ? curve_of(row->back()) : std::nullopt;
    if (!seconds) {
      return false;
    }
    hardware.collectives.push_back(
        {.kind = *kind, .ranks = *ranks, .seconds = *std::move(seconds)});
  }
  return rows != nullptr;
}

template <auto member>
bool set_number(Hardware& hardware, const Value& value) {
  const std::optional<double> number = positive(value);
  hardware.*member = number.value_or(0);
  return number.has_value();
}

// Amounts of memory are told as whole numbers.
bool set_capacity(Hardware& hardware, const Value& value) {
  constexpr double kMostBytes = 1e18;
  return set_number<&Hardware::capacity>(hardware, value) && hardware.capacity >= 1 &&
         hardware.capacity <= kMostBytes;
}

template <auto member>
bool set_share(Hardware& hardware, const Value& value) {
  return set_number<member>(hardware, value) && hardware.*member <= 1;
}

template <auto member>
bool set_whole(Hardware& hardware, const Value& value) {
  const std::optional<std::int64_t> number = whole(value);
  hardware.*member = number.value_or(1);
  return number.has_value();
}

template <auto link, auto member>
bool set_link(Hardware& hardware, const Value& value) {
  const std::optional<double> number = positive(value);
  hardware.*link.*member = number.value_or(0);
  return number.has_value();
}

// An ideal network has none.
template <auto link>
bool set_latency(Hardware& hardware, const Value& value) {
  const std::optional<double> number = as_real(value);
  hardware.*link.*(&Link::latency) = number.value_or(0);
  return number && *number >= 0 && *number <= kMost;
}

constexpr std::string_view kNumber = "a number from 1e-30 to 1e30";
constexpr std::string_view kSeconds = "seconds, from 0 to 1e30";
constexpr std::string_view kWhole = "a positive integer";
constexpr std::string_view kCurve =
    "a number from 1e-30 to 1e30, or pairs [[size, number], …] of such by rising size";

constexpr std::array kFields = std::to_array<Field>({
    {"flops", true, kNumber, set_number<&Hardware::flops>},
    {"memory_bandwidth", true, kCurve,
     [](Hardware& hardware, const Value& value) { return set_curve(hardware.memory, value); }},
    {"latency", true, kSeconds, set_latency<&Hardware::link>},
    {"bandwidth", false, kNumber, set_link<&Hardware::link, &Link::bandwidth>},
    {"bandwidth_per_rank", false, kNumber, set_link<&Hardware::link, &Link::bandwidth>},
    {"bandwidth_per_machine", false, kNumber, set_link<&Hardware::link, &Link::bandwidth>},
    {"memory", false, "bytes, from 1 to 1e18", set_capacity},
    {"products", false, kCurve,
     [](Hardware& hardware, const Value& value) { return set_curve(hardware.products, value); }},
    {"tile", false, kNumber, set_number<&Hardware::tile>},
    {"overhead", false, kNumber, set_number<&Hardware::overhead>},
    {"overlap", false, "a share, above 0 and up to 1", set_share<&Hardware::overlap>},
    {"near_ranks", false, kWhole, set_whole<&Hardware::near_ranks>},
    {"near_latency", false, kSeconds, set_latency<&Hardware::near>},
    {"near_bandwidth", false, kNumber, set_link<&Hardware::near, &Link::bandwidth>},
    {"elements", false, "pairs [[operation, seconds of an element], …]", set_elements},
    {"collectives", false, "rows [[kind, ranks, [[bytes, seconds], …]], …] by rising size",
     set_collectives},
    {"ranks", false, kWhole, set_whole<&Hardware::ranks>},
});

// One of the ways to say what a rank receives from other machines.
struct Bandwidth {
  std::string_view name;
  bool is_shared = false;  // by the `near_ranks` ranks of a machine
};
constexpr std::array kBandwidths = std::to_array<Bandwidth>({
    {"bandwidth_per_rank"},
    {"bandwidth_per_machine", true},
    {"bandwidth"},  // per rank; the short form
});

const std::vector<const ast::Expr*>& arguments_for(const Bound& bound, std::string_view name) {
  const auto* field = std::ranges::find(kFields, name, &Field::name);
  return bound[static_cast<std::size_t>(field - kFields.begin())];
}

// Which one is given; null: an error.
const Bandwidth* bandwidth_given(Reporter& report, const Bound& bound, SourceSpan span) {
  const Bandwidth* given = nullptr;
  for (const Bandwidth& one : kBandwidths) {
    const auto& arguments = arguments_for(bound, one.name);
    if (!arguments.empty() && given != nullptr) {
      report.error(DiagKind::kBadArgument, arguments.front()->span,
                   "`" + std::string(given->name) + "` says it already; give one of them");
      return nullptr;
    }
    given = arguments.empty() ? given : &one;
  }
  if (given == nullptr) {
    report.error(
        DiagKind::kMissingArgument, span,
        "`hardware_profile` needs what a rank receives from other machines: "
        "`bandwidth_per_rank`, or `bandwidth_per_machine`, which `near_ranks` ranks share");
  }
  return given;
}

// Nearby ranks are linked as all are where nothing else is said.
void complete_near(Hardware& hardware, const Bound& bound) {
  if (hardware.near.bandwidth == 0) {
    hardware.near = hardware.link;
  } else if (arguments_for(bound, "near_latency").empty()) {
    hardware.near.latency = hardware.link.latency;
  }
}

bool is_known(Reporter& report, SourceSpan span, const std::string& what, std::string_view name,
              const std::vector<std::string>& names, std::string_view otherwise) {
  const bool known = std::ranges::find(names, name) != names.end();
  if (!known) {
    report.error(DiagKind::kUnknownName, span,
                 what + " `" + std::string(name) + "`" + did_you_mean(name, names, otherwise));
  }
  return known;
}

// A measured number of what nothing is called by would go for nothing. Of an operation, what is
// behind a dot is one of the ways that it is done.
bool knows_operations(Context& c, const Hardware& hardware, SourceSpan span) {
  std::vector<std::string> names;
  for (const OpDef* op : c.units.ops) {
    names.emplace_back(op->name);
  }
  return std::ranges::all_of(hardware.elements, [&](const auto& element) {
    const std::string_view name = element.first;
    return is_known(c.report, span, "`elements`: no operation", name.substr(0, name.find('.')),
                    names, "; `mtf ops` lists them");
  });
}

bool knows_collectives(Context& c, const Hardware& hardware, SourceSpan span) {
  const std::vector<std::string> names(kCollectiveKinds.begin(), kCollectiveKinds.end());
  return std::ranges::all_of(hardware.collectives, [&](const MeasuredCollective& row) {
    return is_known(c.report, span, "`collectives`: no collective", row.kind, names,
                    there_is(names));
  });
}

// What `mtf calibrate` of another version measured may be called otherwise by now.
bool knows_names(Context& c, const Hardware& hardware, const Bound& bound) {
  const auto module = c.modules.by_key.find(std::string(kThisMachine));
  if (module != c.modules.by_key.end() && module->second != nullptr &&
      module->second->scope == c.names.scope) {
    return true;
  }
  const auto span_of = [&](std::string_view name) {
    const std::vector<const ast::Expr*>& given = arguments_for(bound, name);
    return given.empty() ? hardware.span : given.front()->span;
  };
  return knows_operations(c, hardware, span_of("elements")) &&
         knows_collectives(c, hardware, span_of("collectives"));
}

std::optional<HardwareChoice> as_hardware(const Value* value) {
  HardwareChoice choice;
  const auto add = [&choice](const Value& item) {
    const auto* profile = item.get<HardwareRef>();
    if (profile != nullptr) {
      choice.profiles.push_back(**profile);
    }
    return profile != nullptr;
  };
  const Values* list = value == nullptr ? nullptr : items_of(*value);
  const bool fits =
      value != nullptr && (list == nullptr ? add(*value) : std::ranges::all_of(*list, add));
  std::ranges::sort(choice.profiles, {}, &Hardware::ranks);
  return fits && !choice.profiles.empty() ? std::optional(std::move(choice)) : std::nullopt;
}

}  // namespace

Value hardware_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  std::vector<Formal> formals;
  formals.reserve(kFields.size());
  for (const Field& field : kFields) {
    formals.push_back({.name = std::string(field.name), .required = field.required});
  }
  const std::optional<Bound> bound = bind_arguments(c.report, c.names, self.name, formals, call);
  if (!bound) {
    return unknown();
  }
  const Bandwidth* bandwidth = bandwidth_given(c.report, *bound, span);
  if (bandwidth == nullptr) {
    return unknown();
  }
  Hardware hardware;
  hardware.span = span;
  bool fits = true;
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    if ((*bound)[i].empty()) {
      if (kFields[i].required) {
        report_missing(c.report, self.name, formals, i, span);
        return unknown();
      }
      continue;
    }
    const ast::Expr& expr = *(*bound)[i].front();
    const Value value = evaluate(c, expr);
    if (is_unknown(value)) {
      fits = false;
    } else if (!kFields[i].set(hardware, value)) {
      c.report.error(DiagKind::kBadArgument, expr.span,
                     "`" + formals[i].name + "` takes " + std::string(kFields[i].wanted));
      fits = false;
    }
  }
  fits = fits && knows_names(c, hardware, *bound);
  if (bandwidth->is_shared) {
    hardware.link.bandwidth /= static_cast<double>(hardware.near_ranks);
  }
  complete_near(hardware, *bound);
  return fits ? make(HardwareRef(std::make_shared<const Hardware>(std::move(hardware))))
              : unknown();
}

std::optional<HardwareChoice> hardware_named(Context& c, std::string_view name) {
  const Scope::Found own = c.names.scope->find(name);
  std::optional<HardwareChoice> found =
      own.binding == nullptr ? std::nullopt : as_hardware(&own.binding->value);
  if (!found) {
    found = as_hardware(standard_value(c, name == kThisMachine ? kThisMachine : kModule, name));
  }
  for (std::size_t i = 0; found && i < found->profiles.size(); ++i) {
    found->profiles[i].name = name;
  }
  return found;
}

std::vector<std::string> hardware_names(Context& c) {
  std::vector<std::string> names;  // those of the file first
  for (const Scope* scope = c.names.scope.get(); scope != nullptr; scope = scope->parent().get()) {
    for (const auto& [name, binding] : scope->names()) {
      if (as_hardware(&binding.value)) {
        names.push_back(name);
      }
    }
  }
  for (const std::string& name : standard_names(c, kModule)) {
    if (as_hardware(standard_value(c, kModule, name))) {
      names.push_back(name);
    }
  }
  names.emplace_back(kThisMachine);
  return names;
}

bool hardware_exists(Context& c, const ast::Name& name) {
  const Scope::Found own = c.names.scope->find(name.text);
  const bool is_unknown_here = own.binding != nullptr && is_unknown(own.binding->value);
  if (name.text == kThisMachine || is_unknown_here || hardware_named(c, name.text)) {
    return true;
  }
  const std::vector<std::string> names = hardware_names(c);
  const Suggestion suggestion = suggest(name.text, names);
  c.report.error(
      DiagKind::kUnknownName, name.span,
      "no hardware profile `" + name.text + "`" +
          (suggestion.text.empty() ? "; there is " + quoted_list(names) : suggestion.text),
      {}, suggestion.fix);
  return false;
}

}  // namespace mtf::host

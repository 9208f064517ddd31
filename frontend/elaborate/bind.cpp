// Positional arguments by place, named ones by name, and what `->` points to as `to`.

#include <algorithm>
#include <array>

#include "frontend/elaborate/call.h"

namespace mtf::host {
namespace {

Note takes(std::string_view callee, std::span<const Formal> formals) {
  if (formals.empty()) {
    return {.span = {}, .text = "it takes no arguments"};
  }
  std::string text;
  for (const Formal& formal : formals) {
    text += (text.empty() ? "" : ", ") + formal.name;
  }
  const bool written = formals.front().declared.file.valid();
  return {.span = written ? join(formals.front().declared, formals.back().declared) : SourceSpan(),
          .text = "it takes (" + text + ")" +
                  (written ? "" : "; `mtf ops " + std::string(callee) + "` shows it in use")};
}

// Whether an argument is given by that name, the language's own.
bool is_named(std::span<const ast::Argument> arguments, std::string_view name) {
  return std::ranges::any_of(arguments, [name](const ast::Argument& argument) {
    return argument.name && names_argument(argument.name->text, name);
  });
}

// What other libraries call an argument, by what it is called here.
struct OtherWord {
  std::string_view theirs;
  std::string_view here;
};
constexpr std::array<OtherWord, 13> kOtherWords{{{.theirs = "p", .here = "rate"},
                                                 {.theirs = "shift", .here = "by"},
                                                 {.theirs = "shifts", .here = "by"},
                                                 {.theirs = "reps", .here = "times"},
                                                 {.theirs = "repeats", .here = "times"},
                                                 {.theirs = "before", .here = "begin"},
                                                 {.theirs = "min", .here = "low"},
                                                 {.theirs = "max", .here = "high"},
                                                 {.theirs = "over", .here = "window"},
                                                 {.theirs = "dim", .here = "window"},
                                                 {.theirs = "axis", .here = "window"},
                                                 {.theirs = "kernel", .here = "taps"},
                                                 {.theirs = "kernel_size", .here = "size"}}};

struct Binder {
  Reporter& report;
  const Names& names;
  std::string_view callee;
  std::span<const Formal> formals;
  std::span<const ast::Argument> arguments;
  bool tells_dims = false;  // by `->` or by name, so that a name that nothing has is no dim's
  Bound bound;

  [[nodiscard]] std::vector<std::string> formal_names() const {
    std::vector<std::string> list;
    std::ranges::transform(formals, std::back_inserter(list), &Formal::name);
    return list;
  }

  [[nodiscard]] bool has(std::string_view name) const {
    return std::ranges::find(formals, name, &Formal::name) != formals.end();
  }

  // An operation has a dim by either word; a function that is written in the language by its own.
  [[nodiscard]] auto formal_of(std::string_view name) const {
    const auto own = std::ranges::find(formals, name, &Formal::name);
    return own != formals.end() ? own : std::ranges::find_if(formals, [name](const Formal& formal) {
      return !formal.declared.file.valid() && names_argument(name, formal.name);
    });
  }

  // `axis` is what NumPy calls `over`, and `dim` what PyTorch does.
  [[nodiscard]] Suggestion meant(std::string_view name, std::string_view as) const {
    const bool is_dim = name == "axis" || name == "dim" || name == "over";
    if (is_dim && (has("over") || has("dim"))) {
      const std::string here = has("over") ? "over" : "dim";
      return {.text = "; did you mean `" + here + "`, with the " +
                      (here == "over" ? "names of dims?" : "name of a dim?"),
              .fix = name == "over" ? here : ""};
    }
    for (const OtherWord& word : kOtherWords) {
      if (name == word.theirs && has(word.here)) {
        return {.text = "; did you mean `" + std::string(word.here) + "`?",
                .fix = std::string(word.here)};
      }
    }
    return as == "->" ? Suggestion() : suggest(name, formal_names());
  }

  bool put(std::string_view name, const ast::Expr& value, SourceSpan span, std::string_view as) {
    const auto formal = formal_of(name);
    if (formal == formals.end()) {
      const Suggestion suggestion = meant(name, as);
      report.error(DiagKind::kUnknownArgument, span,
                   "`" + std::string(callee) +
                       (as == "->" ? "` takes nothing behind `->`"
                                   : "` has no argument `" + std::string(as) + "`") +
                       suggestion.text,
                   {takes(callee, formals)}, suggestion.fix);
      return false;
    }
    auto& place = bound[static_cast<std::size_t>(formal - formals.begin())];
    if (!place.empty()) {
      report.error(DiagKind::kBadArgument, span,
                   "`" + std::string(callee) + "` gets `" + std::string(name) + "` twice",
                   {{.span = place.front()->span, .text = "first here"}});
      return false;
    }
    place.push_back(&value);
    return true;
  }

  [[nodiscard]] bool ends_list(const ast::Expr& value) const {
    const ast::NameRef* name = ast::as_name(value);
    return is_dim_name(names, value) &&
           !(tells_dims && names.scope->find(name->text).binding == nullptr);
  }

  // Whether the place leaves positional arguments to what has to be given and stands behind it: one
  // for dims that the call says as `over = …`, or for the result's, which `->` may say.
  [[nodiscard]] bool is_passed_by(std::size_t at) const {
    const Formal& formal = formals[at];
    const bool may_pass = formal.name == "over" ? is_named(arguments, "over")
                                                : formal.name == "to" && !formal.required;
    return may_pass && std::any_of(formals.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                   formals.end(), [this](const Formal& behind) {
                                     return behind.required && !is_named(arguments, behind.name);
                                   });
  }

  // The place that the next positional argument goes to.
  [[nodiscard]] std::optional<std::size_t> next(std::size_t at, const ast::Expr& value) const {
    for (; at < formals.size(); ++at) {
      const bool is_full = !bound[at].empty();
      if ((!is_full && !is_passed_by(at)) || (formals[at].many && !ends_list(value))) {
        return at;
      }
    }
    return std::nullopt;
  }
};

bool bind_positional(Binder& binder, std::span<const ast::Argument> arguments,
                     const ast::Expr* target) {
  std::size_t at = 0;
  for (const ast::Argument& argument : arguments) {
    if (argument.name) {
      continue;
    }
    const std::optional<std::size_t> place = binder.next(at, argument.value);
    const bool is_target = place && target != nullptr && binder.formals[*place].name == "to";
    if (!place || is_target) {
      binder.report.error(DiagKind::kUnknownArgument, argument.span,
                          "one argument too many for `" + std::string(binder.callee) + "`",
                          {takes(binder.callee, binder.formals)});
      return false;
    }
    binder.bound[*place].push_back(&argument.value);
    at = *place;
  }
  return true;
}

}  // namespace

bool names_argument(std::string_view given, std::string_view formal) {
  return given == formal || (given == "dim" && formal == "over") ||
         (given == "over" && formal == "dim");
}

bool tells_dims(std::span<const ast::Argument> arguments, bool has_target, bool needs_over) {
  return (has_target && !needs_over) || is_named(arguments, "over");
}

std::optional<Bound> bind_arguments(Reporter& report, const Names& names, std::string_view callee,
                                    std::span<const Formal> formals,
                                    std::span<const ast::Argument> arguments,
                                    const ast::Expr* target) {
  const bool needs_over = std::ranges::any_of(
      formals, [](const Formal& formal) { return formal.name == "over" && formal.required; });
  Binder binder{.report = report,
                .names = names,
                .callee = callee,
                .formals = formals,
                .arguments = arguments,
                .tells_dims = tells_dims(arguments, target != nullptr, needs_over),
                .bound = Bound(formals.size())};
  bool fits = bind_positional(binder, arguments, target);
  for (const ast::Argument& argument : arguments) {
    if (argument.name) {
      fits = binder.put(argument.name->text, argument.value, argument.name->span,
                        argument.name->text) &&
             fits;
    }
  }
  if (target != nullptr) {
    fits = binder.put("to", *target, target->span, "->") && fits;
  }
  return fits ? std::optional(std::move(binder.bound)) : std::nullopt;
}

std::optional<Bound> bind_arguments(Reporter& report, const Names& names, std::string_view callee,
                                    std::span<const Formal> formals, const ast::Call& call) {
  return bind_arguments(report, names, callee, formals, call.arguments,
                        call.target ? &*call.target : nullptr);
}

bool has_required(Reporter& report, std::string_view callee, std::span<const Formal> formals,
                  const Bound& bound, SourceSpan span) {
  for (std::size_t i = 0; i < formals.size(); ++i) {
    if (bound[i].empty() && formals[i].required) {
      report_missing(report, callee, formals, i, span);
      return false;
    }
  }
  return true;
}

std::optional<Bound> bind_required(Reporter& report, const Names& names, std::string_view callee,
                                   std::span<const Formal> formals, const ast::Call& call,
                                   SourceSpan span) {
  std::optional<Bound> bound = bind_arguments(report, names, callee, formals, call);
  return bound && has_required(report, callee, formals, *bound, span) ? std::move(bound)
                                                                      : std::nullopt;
}

void report_missing(Reporter& report, std::string_view callee, std::span<const Formal> formals,
                    std::size_t missing, SourceSpan span) {
  const std::string& name = formals[missing].name;
  const bool is_written = formals[missing].declared.file.valid();
  report.error(DiagKind::kMissingArgument, span,
               "`" + std::string(callee) + "` needs `" + name + "`" +
                   (name == "to" && !is_written ? ", as `to = name` or after `->`" : ""),
               {takes(callee, formals)});
}

}  // namespace mtf::host

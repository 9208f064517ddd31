#include "frontend/report/why/why_find.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "ir/support/text/parse_number.h"

namespace mtf {
namespace {

constexpr std::array kKinds = {
    StepKind::kAllGather,     StepKind::kAllToAll,      StepKind::kPermute,
    StepKind::kHaloExchange,  StepKind::kExclusiveScan, StepKind::kAllReduce,
    StepKind::kReduceScatter, StepKind::kBroadcast,     StepKind::kReduce,
    StepKind::kServe,         StepKind::kSortExchange};

// "18" of "file.mtf:18" or ":18", and the file, which may be empty.
struct AskedLine {
  std::string_view file;
  std::int32_t number = 0;
};

std::optional<AskedLine> line_of(std::string_view question) {
  const std::size_t colon = question.rfind(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  const auto number = parse_number<std::int32_t>(question.substr(colon + 1));
  return number ? std::optional(AskedLine{.file = question.substr(0, colon), .number = *number})
                : std::nullopt;
}

// Not the gradient of what a `let` named, which layouts call the same.
bool is_let_of(const Program& program, const Let& let) {
  return !program.at(let.value).backward;
}

using Words = std::set<std::string, std::less<>>;

class Finder {
 public:
  Finder(const SpmdProgram& program, const SourceMap& sources, const ValueNames& names)
      : program_(program), sources_(sources), names_(names) {}

  Asked run(std::string_view question) {
    if (question == "memory") {
      asked_.memory = asked_.known = true;
    } else if (const std::optional<AskedLine> line = line_of(question)) {
      at_line(*line);
    } else if (!collectives(question)) {
      named(question);
    }
    return std::move(asked_);
  }

 private:
  void collectives_where(const auto& wanted) {
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      if (is_collective(program_.steps[s].kind) && wanted(program_.steps[s])) {
        asked_.steps.push_back(s);
      }
    }
  }

  // "all_reduce", "all_reduce(rows, cols)", "collectives".
  bool collectives(std::string_view question) {
    if (question == "collectives") {
      asked_.known = true;
      collectives_where([](const Step&) { return true; });
      return true;
    }
    const std::size_t open = question.find('(');
    const std::string_view word = question.substr(0, open);
    const auto* kind = std::ranges::find(kKinds, word, [](StepKind k) { return to_string(k); });
    if (kind == kKinds.end()) {
      return false;
    }
    const bool is_of_axes = open != std::string_view::npos;
    const Words wanted = is_of_axes ? words_in(question.substr(open)) : Words();
    for (const std::string& axis : wanted) {
      if (!program_.mesh.find(axis)) {
        asked_.missing_axis = axis;
        return true;
      }
    }
    asked_.known = true;
    collectives_where([&](const Step& step) {
      return step.kind == *kind && (!is_of_axes || names_all(step, wanted));
    });
    return true;
  }

  static Words words_in(std::string_view brackets) {
    Words words;
    std::string word;
    for (const char letter : brackets) {
      if (std::string_view("(), ").find(letter) == std::string_view::npos) {
        word += letter;
      } else if (!word.empty()) {
        words.insert(std::exchange(word, std::string()));
      }
    }
    return words;
  }

  // Whether these are the axes of the step.
  [[nodiscard]] bool names_all(const Step& step, const Words& wanted) const {
    Words axes;
    for (const AxisId axis : step.axes) {
      axes.insert(program_.mesh.axes[axis].name);
    }
    return wanted == axes;
  }

  [[nodiscard]] bool is_at(SourceSpan span, const AskedLine& line) const {
    if (!span.file.valid() || sources_.place(span.file, span.begin).line > line.number ||
        sources_.place(span.file, span.end).line < line.number) {
      return false;
    }
    const std::string& path = sources_.file(span.file).name;
    const std::string short_name = sources_.short_place(span);
    return line.file.empty() || line.file == path ||
           short_name.substr(0, short_name.rfind(':')) == line.file;
  }

  void at_line(const AskedLine& line) {
    for (std::size_t i = 0; i < program_.source.values.size(); ++i) {
      if (is_at(program_.source.values[i].span, line)) {
        asked_.values.push_back({static_cast<std::int32_t>(i)});
      }
    }
    collectives_where([&](const Step& step) {
      return std::ranges::any_of(step.reasons,
                                 [&](const Reason& reason) { return is_at(reason.span, line); });
    });
    asked_.known = !asked_.empty();
  }

  void named(std::string_view question) {
    const VariableRules glob{.glob = std::string(question), .rules = {}, .span = {}};
    const bool is_glob = question.find('*') != std::string_view::npos;
    const auto is_it = [&](const std::string& name) {
      return name == question || (is_glob && !name.empty() && glob.names(name));
    };
    std::set<std::int32_t> values;
    for (std::size_t v = 0; v < program_.values.size(); ++v) {
      if (is_it(names_.of({static_cast<std::int32_t>(v)}))) {
        values.insert(program_.values[v].origin.index);
      }
    }
    for (std::size_t i = 0; i < program_.source.values.size(); ++i) {
      if (is_it(program_.source.values[i].name)) {
        values.insert(static_cast<std::int32_t>(i));
      }
    }
    for (const Input& input : program_.source.inputs) {
      if (is_it(input.name)) {
        values.insert(input.value.index);
      }
    }
    if (values.empty()) {
      in_calls(is_it, values);
    }
    for (const std::int32_t value : values) {
      asked_.values.push_back(ValueId{value});
    }
    // A move of elements makes a value of another one.
    collectives_where([&](const Step& step) {
      return values.contains(program_.at(step.from).origin.index) ||
             values.contains(program_.at(step.to).origin.index);
    });
    asked_.known = !asked_.empty() || question == "*";  // all that there is, if only nothing
  }

  // By paths, where nothing else is called so: `net/*` are the variables of net.
  void in_calls(const auto& is_it, std::set<std::int32_t>& values) const {
    for (const Let& let : program_.source.lets) {
      if (is_let_of(program_.source, let) && is_it(let.path)) {
        values.insert(let.value.index);
      }
    }
  }

  const SpmdProgram& program_;
  const SourceMap& sources_;
  const ValueNames& names_;
  Asked asked_;
};

}  // namespace

Asked find_asked(const SpmdProgram& program, const SourceMap& sources, const ValueNames& names,
                 std::string_view question) {
  return Finder(program, sources, names).run(question);
}

std::vector<std::string> askable_paths(const SpmdProgram& program) {
  std::vector<std::string> paths;
  for (const Let& let : program.source.lets) {
    const bool is_path = let.path.find('/') != std::string::npos;
    if (is_path && is_let_of(program.source, let) &&
        std::ranges::find(paths, let.path) == paths.end()) {
      paths.push_back(let.path);
    }
  }
  return paths;
}

std::vector<std::string> askable(const SpmdProgram& program, const ValueNames& names) {
  std::vector<std::string> list;
  const auto add = [&list](const std::string& name) {
    if (!name.empty() && name.front() != '%' && std::ranges::find(list, name) == list.end()) {
      list.push_back(name);
    }
  };
  for (const Input& input : program.source.inputs) {
    add(input.name);
  }
  for (std::size_t v = 0; v < program.values.size(); ++v) {
    add(names.of({static_cast<std::int32_t>(v)}));
  }
  return list;
}

}  // namespace mtf

// The options `--mesh` and `--rules`.

#include "frontend/elaborate/layouts/mesh_text.h"

#include <algorithm>

#include "frontend/elaborate/context.h"
#include "ir/support/text/parse_number.h"

namespace mtf::host {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kBetween = " \t,;.";
constexpr std::string_view kInside = "=:";

// Names, and the signs between the halves of a pair.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    if (kBetween.find(text.front()) != std::string_view::npos) {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t end =
        kInside.find(text.front()) != std::string_view::npos
            ? 1
            : std::min(text.find_first_of(std::string(kBetween) + std::string(kInside)),
                       text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

void option_error(Reporter& report, DiagKind kind, std::string text) {
  report.error(kind, SourceSpan(), std::move(text));
}

// Each once.
std::vector<std::string> axis_names(const Layouts& layouts) {
  std::vector<std::string> names;
  for (const Mesh& mesh : layouts.meshes) {
    for (const MeshAxis& axis : mesh.axes) {
      if (std::ranges::find(names, axis.name) == names.end()) {
        names.push_back(axis.name);
      }
    }
  }
  return names;
}

// That no mesh has; null for none.
const MeshAxis* unknown_axis(const AxisSizes& sizes, const Layouts& layouts) {
  const std::vector<std::string> names = axis_names(layouts);
  const auto found = std::ranges::find_if(sizes.axes, [&names](const MeshAxis& axis) {
    return std::ranges::find(names, axis.name) == names.end();
  });
  return found == sizes.axes.end() ? nullptr : &*found;
}

void too_many_ranks(Reporter& report, const Layouts& layouts, const Mesh& mesh) {
  option_error(
      report, DiagKind::kOverflow,
      "`--mesh " + layouts.asked.mesh + "`: `" + to_string(mesh) + "` has more than 2^31 ranks");
}

void check_mesh_option(Reporter& report, Layouts& layouts) {
  if (std::string problem = mesh_problem(layouts.asked.mesh); !problem.empty()) {
    option_error(report, DiagKind::kBadArgument, std::move(problem));
    return;
  }
  const AxisSizes sizes = parse_axis_sizes(layouts.asked.mesh);
  if (layouts.meshes.empty()) {  // a mesh of its own
    Mesh own{.name = "mesh", .axes = sizes.axes, .profile = "", .span = {}};
    if (has_too_many_ranks(own)) {
      too_many_ranks(report, layouts, own);
    } else {
      layouts.meshes.push_back(std::move(own));
    }
    return;
  }
  if (const MeshAxis* axis = unknown_axis(sizes, layouts)) {
    option_error(report, DiagKind::kUnknownAxis,
                 "`--mesh` gives the axis `" + axis->name + "` a size; the meshes have " +
                     quoted_list(axis_names(layouts)));
    return;
  }
  const bool is_of_one = std::ranges::any_of(
      layouts.meshes, [&](const Mesh& mesh) { return axes_missing(sizes, mesh).empty(); });
  if (!is_of_one) {
    std::vector<std::string> meshes;
    std::ranges::transform(layouts.meshes, std::back_inserter(meshes),
                           [](const Mesh& mesh) { return to_string(mesh); });
    option_error(
        report, DiagKind::kUnknownAxis,
        "`--mesh` gives axes sizes that no mesh has together; there are " + quoted_list(meshes));
  }
}

// The first mesh that has every axis.
const Mesh* mesh_with(const Layouts& layouts, const Pairs& rules) {
  const auto found = std::ranges::find_if(layouts.meshes, [&](const Mesh& mesh) {
    return std::ranges::all_of(
        rules, [&](const auto& rule) { return mesh.find(rule.second).has_value(); });
  });
  return found == layouts.meshes.end() ? nullptr : &*found;
}

// Where none has them all.
std::string why_no_mesh(const Layouts& layouts, const Pairs& rules) {
  if (layouts.meshes.empty()) {
    return "there is no mesh; `--mesh \"rows=2,cols=2\"` makes one";
  }
  const std::vector<std::string> names = axis_names(layouts);
  for (const auto& [dim, axis] : rules) {
    if (std::ranges::find(names, axis) == names.end()) {
      return "no mesh has an axis " + in_backticks(axis) + did_you_mean(axis, names);
    }
  }
  return "no mesh has all of these axes";
}

void declare_rules(Reporter& report, Layouts& layouts) {
  if (std::string problem = rules_problem(layouts.asked.rules); !problem.empty()) {
    option_error(report, DiagKind::kBadArgument, std::move(problem));
    return;
  }
  const Pairs pairs = parse_pairs(layouts.asked.rules).pairs;
  if (pairs.empty() && layouts.meshes.empty()) {
    return;  // no rules on one rank
  }
  const Mesh* mesh = mesh_with(layouts, pairs);
  if (mesh == nullptr) {
    option_error(report, DiagKind::kUnknownAxis,
                 "`--rules " + layouts.asked.rules + "`: " + why_no_mesh(layouts, pairs));
    return;
  }
  Layout layout{.name = "rules", .mesh = *mesh, .rules = {}, .span = {}};
  for (const auto& [dim, axis] : pairs) {
    const AxisId id = mesh->find(axis).value();
    const auto same = std::ranges::find(layout.rules, dim, &Rule::dim);
    if (same == layout.rules.end()) {
      layout.rules.push_back({.dim = dim, .axes = {id}, .span = {}});
    } else if (std::ranges::find(same->axes, id) == same->axes.end()) {
      same->axes.push_back(id);
    }
  }
  layouts.layouts.push_back(std::move(layout));
}

}  // namespace

TextPairs parse_pairs(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  const auto is_sign = [&](std::size_t i) {
    return i < words.size() && kInside.find(words[i].front()) != std::string_view::npos;
  };
  TextPairs result;
  for (std::size_t i = 0; i < words.size(); i += 3) {
    if (is_sign(i)) {
      result.problem = "nothing stands before `" + std::string(words[i]) + "`";
    } else if (!is_sign(i + 1)) {
      result.problem = in_backticks(words[i]) + " stands alone";
    } else if (i + 2 >= words.size() || is_sign(i + 2)) {
      result.problem =
          "nothing follows `" + std::string(words[i]) + std::string(words[i + 1]) + "`";
    } else {
      result.pairs.emplace_back(words[i], words[i + 2]);
    }
    if (!result.problem.empty()) {
      break;
    }
  }
  return result;
}

AxisSizes parse_axis_sizes(std::string_view text) {
  constexpr std::int64_t kMaxSize = std::int64_t{1} << 31U;
  auto [pairs, problem] = parse_pairs(text);
  AxisSizes result{.axes = {}, .problem = std::move(problem)};
  for (const auto& [name, size] : pairs) {
    const std::int64_t number = parse_number<std::int64_t>(size).value_or(0);
    if (number < 1 || number > kMaxSize) {
      result.problem =
          in_backticks(size) + " is not the size of an axis, an integer from 1 to 2^31";
    } else if (std::ranges::find(result.axes, name, &MeshAxis::name) != result.axes.end()) {
      result.problem = "the axis " + in_backticks(name) + " is given twice";
    }
    result.axes.push_back({.name = name, .size = number});
  }
  return result;
}

namespace {

// `as_written`: how it is.
std::string option_problem(std::string_view option, std::string_view text,
                           const std::string& problem, std::string_view as_written) {
  return problem.empty() ? ""
                         : in_backticks(std::string(option).append(" ").append(text)) + ": " +
                               problem + "; " + std::string(as_written);
}

}  // namespace

std::string mesh_problem(std::string_view text) {
  return option_problem("--mesh", text, parse_axis_sizes(text).problem,
                        "axes and their sizes are written as in `--mesh \"rows=4,cols=2\"`");
}

std::string rules_problem(std::string_view text) {
  return option_problem(
      "--rules", text, parse_pairs(text).problem,
      "dims and their axes are written as in `--rules \"batch:rows;hidden:cols\"`");
}

std::vector<std::string> axes_missing(const AxisSizes& sizes, const Mesh& mesh) {
  std::vector<std::string> missing;
  for (const MeshAxis& axis : sizes.axes) {
    if (!mesh.find(axis.name)) {
      missing.push_back(axis.name);
    }
  }
  return missing;
}

const Mesh& first_mesh(std::span<const Mesh> meshes, std::string_view sizes) {
  const AxisSizes asked = parse_axis_sizes(sizes);
  const auto found = std::ranges::find_if(
      meshes, [&](const Mesh& mesh) { return axes_missing(asked, mesh).empty(); });
  return found == meshes.end() ? meshes.front() : *found;
}

void declare_from_options(Reporter& report, Layouts& layouts) {
  if (!layouts.asked.mesh.empty()) {
    check_mesh_option(report, layouts);
  }
  if (!layouts.asked.rules.empty()) {
    const bool has_own_mesh = layouts.meshes.empty() && !layouts.asked.mesh.empty();
    if (!has_own_mesh) {  // else what is wrong with it was told, and rules would be on it
      declare_rules(report, layouts);
    }
  }
}

bool has_too_many_ranks(const Mesh& mesh) {
  constexpr std::int64_t kMaxRanks = std::int64_t{1} << 31U;
  std::int64_t ranks = 1;
  return std::ranges::any_of(mesh.axes, [&ranks](const MeshAxis& axis) {
    return __builtin_mul_overflow(ranks, axis.size, &ranks) || ranks > kMaxRanks;
  });
}

void resize_mesh(Reporter& report, const Layouts& layouts, Mesh& mesh) {
  if (layouts.asked.mesh.empty()) {
    return;
  }
  const AxisSizes sizes = parse_axis_sizes(layouts.asked.mesh);
  const bool has_all = sizes.problem.empty() && axes_missing(sizes, mesh).empty();
  Mesh resized = mesh;
  for (const MeshAxis& axis : has_all ? sizes.axes : std::vector<MeshAxis>()) {
    resized.axes[*mesh.find(axis.name)].size = axis.size;
  }
  if (has_too_many_ranks(resized)) {
    too_many_ranks(report, layouts, resized);
  } else {
    mesh = std::move(resized);
  }
}

void check_sizes_taken(Reporter& report, const Layouts& layouts, const Layout& chosen) {
  if (layouts.asked.mesh.empty() || layouts.asked.is_one_of_all || layouts.asked.given) {
    return;
  }
  const AxisSizes sizes = parse_axis_sizes(layouts.asked.mesh);
  const std::vector<std::string> missing =
      sizes.problem.empty() ? axes_missing(sizes, chosen.mesh) : std::vector<std::string>();
  if (!missing.empty() && report.sink().ok()) {
    option_error(report, DiagKind::kUnknownAxis,
                 "`--mesh` gives a size to " + quoted_list(missing) + ", and the layout `" +
                     chosen.name + "` is on " + to_string(chosen.mesh));
  }
}

}  // namespace mtf::host

// The options `--mesh` and `--rules`.

#include "frontend/elaborate/mesh_text.h"

#include <algorithm>
#include <charconv>

#include "frontend/elaborate/context.h"

namespace mtf::host {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
  }
  while (!text.empty() && text.back() == ' ') {
    text.remove_suffix(1);
  }
  return text;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Both spellings are taken everywhere: a=b,c=d and a:b;c:d.
std::optional<Pairs> parse_pairs(std::string_view text) {
  Pairs pairs;
  while (!trimmed(text).empty()) {
    const std::size_t end = std::min(text.find_first_of(",;"), text.size());
    const std::string_view part = trimmed(text.substr(0, end));
    const std::size_t middle = part.find_first_of("=:");
    if (middle == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view left = trimmed(part.substr(0, middle));
    const std::string_view right = trimmed(part.substr(middle + 1));
    if (left.empty() || right.empty()) {
      return std::nullopt;
    }
    pairs.emplace_back(left, right);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pairs;
}

void option_error(Context& c, DiagKind kind, std::string text) {
  c.error(kind, SourceSpan(), std::move(text));
}

void check_mesh_option(Context& c) {
  const auto sizes = parse_axis_sizes(c.options.mesh);
  if (!sizes) {
    option_error(c, DiagKind::kBadArgument,
                 "`--mesh " + c.options.mesh + "` is not of the form `--mesh \"rows=4,cols=2\"`");
    return;
  }
  if (c.layouts.meshes.empty()) {  // a mesh of its own
    c.layouts.meshes.push_back({.name = "mesh", .axes = *sizes, .profile = "", .span = {}});
    return;
  }
  for (const MeshAxis& axis : *sizes) {
    const bool is_known = std::ranges::any_of(
        c.layouts.meshes, [&](const Mesh& mesh) { return mesh.find(axis.name).has_value(); });
    if (!is_known) {
      std::vector<std::string> names;
      for (const Mesh& mesh : c.layouts.meshes) {
        for (const MeshAxis& known : mesh.axes) {
          names.push_back(known.name);
        }
      }
      option_error(c, DiagKind::kUnknownAxis,
                   "`--mesh` gives the axis `" + axis.name + "` a size; the meshes have " +
                       quoted_list(names));
      return;
    }
  }
}

// The first mesh that has every axis.
const Mesh* mesh_with(const Context& c, const Pairs& rules) {
  const auto found = std::ranges::find_if(c.layouts.meshes, [&](const Mesh& mesh) {
    return std::ranges::all_of(
        rules, [&](const auto& rule) { return mesh.find(rule.second).has_value(); });
  });
  return found == c.layouts.meshes.end() ? nullptr : &*found;
}

void declare_rules(Context& c) {
  const std::optional<Pairs> pairs = parse_rules(c.options.rules);
  if (!pairs) {
    option_error(c, DiagKind::kBadArgument,
                 "`--rules " + c.options.rules +
                     "` is not of the form `--rules \"batch:rows;hidden:cols\"`");
    return;
  }
  const Mesh* mesh = mesh_with(c, *pairs);
  if (mesh == nullptr) {
    option_error(
        c, DiagKind::kUnknownAxis,
        "`--rules " + c.options.rules + "`: " +
            (c.layouts.meshes.empty() ? "there is no mesh; `--mesh \"rows=2,cols=2\"` makes one"
                                      : "no mesh has all of these axes"));
    return;
  }
  Layout layout{.name = "rules", .mesh = *mesh, .rules = {}, .span = {}};
  for (const auto& [dim, axis] : *pairs) {
    const AxisId id = mesh->find(axis).value();
    const auto same = std::ranges::find(layout.rules, dim, &Rule::dim);
    if (same == layout.rules.end()) {
      layout.rules.push_back({.dim = dim, .axes = {id}, .span = {}});
    } else if (std::ranges::find(same->axes, id) == same->axes.end()) {
      same->axes.push_back(id);
    }
  }
  c.layouts.layouts.push_back(std::move(layout));
}

}  // namespace

std::optional<std::vector<MeshAxis>> parse_axis_sizes(std::string_view text) {
  const std::optional<Pairs> pairs = parse_pairs(text);
  if (!pairs) {
    return std::nullopt;
  }
  std::vector<MeshAxis> axes;
  for (const auto& [name, size] : *pairs) {
    std::int64_t number = 0;
    const char* end = size.data() + size.size();
    const auto [stop, problem] = std::from_chars(size.data(), end, number);
    constexpr std::int64_t kMaxSize = std::int64_t{1} << 31U;
    if (problem != std::errc() || stop != end || number < 1 || number > kMaxSize ||
        std::ranges::find(axes, name, &MeshAxis::name) != axes.end()) {
      return std::nullopt;
    }
    axes.push_back({.name = name, .size = number});
  }
  return axes;
}

std::optional<Pairs> parse_rules(std::string_view text) {
  return parse_pairs(text);
}

void declare_from_options(Context& c) {
  if (!c.options.mesh.empty()) {
    check_mesh_option(c);
  }
  if (!c.options.rules.empty()) {
    declare_rules(c);
  }
}

}  // namespace mtf::host

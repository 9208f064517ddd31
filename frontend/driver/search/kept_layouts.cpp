#include "frontend/driver/search/kept_layouts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <sstream>
#include <utility>

#include "ir/support/file.h"
#include "ir/support/number.h"
#include "runtime/checkpoint/checksum.h"

namespace mtf {
namespace {

std::string rule_text(std::string_view kind, const Rule& rule, const Mesh& mesh) {
  std::string text = std::string(kind) + " " + rule.dim + (rule.rest ? " *" : " .");
  for (const AxisId axis : rule.axes) {
    text += " " + mesh.axes[axis].name;
  }
  return text + "\n";
}

// nullopt: an axis that the mesh does not have.
std::optional<Rule> read_rule(std::istringstream& words, const Layout& searched) {
  Rule rule{.dim = {}, .axes = {}, .span = searched.span};
  std::string rest;
  words >> rule.dim >> rest;
  rule.rest = rest == "*";
  for (std::string name; words >> name;) {
    const std::optional<AxisId> axis = searched.mesh.find(name);
    if (!axis) {
      return std::nullopt;
    }
    rule.axes.push_back(*axis);
  }
  return rule.dim.empty() ? std::nullopt : std::optional(std::move(rule));
}

std::string block_text(const VariableRules& block, const Mesh& mesh) {
  const char* kind = block.glob.empty() ? "param" : "own";
  std::string text = block.glob.empty() ? "" : (block.lets ? "let " : "at ") + block.glob + "\n";
  for (const Rule& rule : block.rules) {
    text += rule_text(kind, rule, mesh);
  }
  return text;
}

}  // namespace

std::string kept_text(const KeptLayout& kept) {
  const Layout& layout = kept.layout;
  std::string text = "says " + kept.says + "\n";
  for (const Rule& rule : layout.rules) {
    text += rule.where.empty() ? rule_text("rule", rule, layout.mesh) : "";
  }
  for (const VariableRules& block : layout.variables) {
    text += block_text(block, layout.mesh);
  }
  text += layout.gather_again ? "again\n" : "";
  text += layout.recompute ? "" : "kept\n";
  text += layout.infer ? "infer\n" : "";
  return text + "stream " + std::to_string(layout.stream) + "\n";
}

namespace {

// The text line by line, onto the layout that was searched.
class Reading {
 public:
  explicit Reading(const Layout& searched)
      : searched_(searched), kept_{.layout = searched, .says = {}} {}

  // False: no such line.
  bool add(const std::string& line) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "rule" || kind == "param" || kind == "own") {
      return add_rule(kind, words);
    }
    if (kind == "at" || kind == "let") {
      blocks_.push_back(
          {.glob = line.substr(kind.size() + 1), .rules = {}, .span = {}, .lets = kind == "let"});
      return true;
    }
    if (kind == "says") {
      kept_.says = line.substr(kind.size() + 1);
    } else if (kind == "stream") {
      words >> kept_.layout.stream;
    }
    kept_.layout.gather_again = kept_.layout.gather_again || kind == "again";
    kept_.layout.recompute = kept_.layout.recompute && kind != "kept";
    kept_.layout.infer = kept_.layout.infer || kind == "infer";
    constexpr std::array kKinds =
        std::to_array<std::string_view>({"says", "again", "kept", "infer", "stream"});
    return std::ranges::find(kKinds, kind) != kKinds.end();
  }

  std::optional<KeptLayout> result() {
    for (VariableRules& block : blocks_) {
      const auto is_same = [&block](const VariableRules& other) {
        return other.glob == block.glob && other.lets == block.lets;
      };
      if (std::ranges::none_of(searched_.variables, is_same)) {
        kept_.layout.variables.push_back(std::move(block));
      }
    }
    const bool has_own = std::ranges::any_of(
        searched_.variables, [](const VariableRules& block) { return block.glob.empty(); });
    if (!params_.rules.empty() && !has_own) {
      kept_.layout.variables.push_back(std::move(params_));
    }
    return kept_.says.empty() || kept_.layout.stream < 1 ? std::nullopt
                                                         : std::optional(std::move(kept_));
  }

 private:
  bool add_rule(std::string_view kind, std::istringstream& words) {
    std::optional<Rule> rule = read_rule(words, searched_);
    if (!rule || (kind == "own" && blocks_.empty())) {
      return false;
    }
    const auto& fixed = searched_.rules;
    if (kind == "own") {
      blocks_.back().rules.push_back(*std::move(rule));
    } else if (kind == "param") {
      params_.rules.push_back(*std::move(rule));
    } else if (std::ranges::find(fixed, rule->dim, &Rule::dim) == fixed.end()) {
      kept_.layout.rules.push_back(*std::move(rule));
    }
    return true;
  }

  const Layout& searched_;
  KeptLayout kept_;
  std::vector<VariableRules> blocks_;  // by globs
  VariableRules params_;
};

}  // namespace

std::optional<KeptLayout> read_kept(const Layout& searched, std::string_view text) {
  Reading reading(searched);
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!reading.add(line)) {
      return std::nullopt;
    }
  }
  return reading.result();
}

namespace {

// "" if nowhere.
std::string kept_path(std::string_view question) {
  const std::string folder = user_folder("XDG_CACHE_HOME", "/.cache");
  const std::uint64_t hash = xxh64(std::as_bytes(std::span(question.data(), question.size())));
  return folder.empty() ? "" : folder + "/layouts/" + hex16(hash);
}

// Another hash than that of the name, and how long the question is.
std::string kept_mark(std::string_view question) {
  return "of " + hex16(std::hash<std::string_view>{}(question)) + " " +
         std::to_string(question.size()) + "\n";
}

}  // namespace

std::optional<std::string> load_kept(std::string_view question) {
  const std::string path = kept_path(question);
  const std::string mark = kept_mark(question);
  const std::optional<std::string> text = path.empty() ? std::nullopt : text_of(path);
  return text && text->starts_with(mark) ? std::optional(text->substr(mark.size())) : std::nullopt;
}

std::string store_kept(std::string_view question, std::string_view text) {
  const std::string path = kept_path(question);
  if (path.empty()) {
    return "neither `XDG_CACHE_HOME` nor `HOME` names a folder";
  }
  const std::string problem = put_file(path, kept_mark(question).append(text));
  return problem.empty() ? "" : in_backticks(path) + " cannot be written: " + problem;
}

}  // namespace mtf

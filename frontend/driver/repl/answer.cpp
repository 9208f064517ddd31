#include "frontend/driver/repl/answer.h"

#include "frontend/driver/repl/repl.h"
#include "frontend/elaborate/context.h"
#include "frontend/elaborate/names/module.h"
#include "frontend/elaborate/tensors/entries.h"
#include "frontend/report/quantity.h"
#include "ir/support/match.h"
#include "ir/support/utf8.h"

namespace mtf {
namespace {

std::string grouped(const Mesh& mesh, const Axes& axes) {
  const std::string names = to_string(mesh, axes);
  return axes.size() > 1 ? "(" + names + ")" : names;
}

std::string function_text(const ast::Fn& fn) {
  std::string text = fn.is_model ? "model(" : "fn(";
  for (const ast::Parameter& parameter : fn.parameters) {
    text += (&parameter == fn.parameters.data() ? "" : ", ") + parameter.name.text;
    text += parameter.type ? ": " + ast::to_string(*parameter.type) : "";
    text += parameter.initial ? " = " + ast::to_string(*parameter.initial) : "";
  }
  text += ")";
  for (const ast::TypeExpr& result : fn.results) {
    text += (&result == fn.results.data() ? " -> " : ", ") + ast::to_string(result);
  }
  return text + (host::is_entry(fn) ? "   an entry" : "");
}

// A layout or mesh is found by its name: one that was declared anew has the place of the old one.
template <typename T>
const T* called(const std::vector<T>& list, std::size_t behind) {
  return behind == 0 || behind > list.size() ? nullptr : &list[behind - 1];
}

// What is bound may be the text of a file; `print` shows all of it.
std::string host_text(const host::Value& value) {
  constexpr std::size_t kWidest = 200;
  const std::string kind = host::kind_of(value);
  const std::string all = host::to_string(value);
  const std::string shown = shortened(all, kWidest);
  if (const auto* text = value.get<std::string>()) {
    return (shown == all ? "string"
                         : "string of " + count_text(static_cast<std::int64_t>(code_points(*text)),
                                                     "character")) +
           " = \"" + shown + "\"";
  }
  if (const auto* list = value.get<host::List>(); list != nullptr && shown != all) {
    return "list of " + count_text(std::ssize(*list->items)) + " = " + shown;
  }
  const std::size_t blank = kind.find(' ');
  const std::string word =
      kind.starts_with("a ") || kind.starts_with("an ") ? kind.substr(blank + 1) : kind;
  return shown.empty() ? word : word + " = " + shown;
}

}  // namespace

std::string layout_text(const Layout& declared, const Layout* chosen) {
  const bool is_in_use = chosen != nullptr && chosen->name == declared.name;
  const Layout& layout = is_in_use ? *chosen : declared;  // with the rules that were found
  std::string text = "layout on " + to_string(layout.mesh) + (layout.automatic ? " auto {" : " {");
  const auto add = [&](const std::vector<Rule>& rules) {
    for (const Rule& rule : rules) {
      text += (&rule == rules.data() ? " " : ", ") + to_string(rule, layout.mesh);
    }
  };
  add(layout.rules);
  for (const VariableRules& block : layout.variables) {
    text += "  " + title_of(block) + " {";
    add(block.rules);
    text += " }";
  }
  text += " }";
  return text + (is_in_use ? "   in use" : layout.automatic ? "   searched where it is used" : "");
}

std::optional<Placed> placed(const host::Value& value, const PlanDevice& device) {
  const auto* tensor = value.get<host::Tensor>();
  if (tensor == nullptr) {
    return std::nullopt;
  }
  if (tensor->where == host::Where::kVariable) {
    const ValueLayout* layout = device.variable(tensor->variable->variable.path);
    return Placed{.type = tensor->type,
                  .layout = layout == nullptr ? replicated(tensor->type.shape) : *layout};
  }
  const auto* planned = dynamic_cast<const PlannedTensor*>(tensor->handle.get());
  return planned == nullptr
             ? std::nullopt
             : std::optional(Placed{.type = planned->type, .layout = planned->layout});
}

std::int64_t bytes_a_rank(const Placed& tensor, const Mesh& mesh) {
  return local_shape(tensor.type.shape, tensor.layout, mesh).volume() *
         static_cast<std::int64_t>(bytes_of(tensor.type.dtype));
}

std::string type_text(const Placed& tensor, const Mesh& mesh) {
  const Shape& shape = tensor.type.shape;
  std::string text = std::string(to_string(tensor.type.dtype)) + "[";
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const Axes& axes = tensor.layout.dims[d];
    text += (d == 0 ? "" : ", ") + shape[d].name + " " + std::to_string(shape[d].size);
    text += axes.empty() ? "" : "/" + grouped(mesh, axes);
  }
  text += "]";
  return tensor.layout.where.empty() ? text : text + " " + to_string(tensor.layout.where, mesh);
}

std::string slice_text(const Placed& tensor, const Mesh& mesh) {
  const Shape local = local_shape(tensor.type.shape, tensor.layout, mesh);
  std::string text;
  for (const Dim& dim : local.dims()) {
    text += (text.empty() ? "" : "x") + std::to_string(dim.size);
  }
  if (mesh.ranks() > 1) {
    text += text.empty() ? "on every rank" : mesh.uneven ? " at most a rank" : " a rank";
  }
  return text + (text.empty() ? "" : ", ") + bytes_text(bytes_a_rank(tensor, mesh));
}

namespace {

// As many names as a line holds; Tab shows them all.
std::string module_text(std::span<const std::string> members) {
  constexpr std::size_t kShown = 8;
  const bool is_long = members.size() > kShown + 1;
  return "module of " + joined(is_long ? members.first(kShown) : members, ", ") +
         (is_long ? " and " + std::to_string(members.size() - kShown) + " more" : "");
}

std::string mesh_text(const Mesh* mesh) {
  return mesh == nullptr ? "mesh"
                         : "mesh " + to_string(*mesh) + "   " + count_text(mesh->ranks(), "rank");
}

// Several values, or a list of tensors: one line each.
std::string items_text(const std::vector<host::Value>& items, const PlanDevice& device,
                       const host::Context& context) {
  std::string text;
  for (const host::Value& item : items) {
    text += (text.empty() ? "" : "\n") + value_text(item, device, context);
  }
  return text;
}

}  // namespace

std::string value_text(const host::Value& value, const PlanDevice& device,
                       const host::Context& context) {
  const Mesh& mesh = device.layout().mesh;
  if (const std::optional<Placed> tensor = placed(value, device)) {
    return type_text(*tensor, mesh) + "   " + slice_text(*tensor, mesh);
  }
  if (const auto* function = value.get<host::Function>()) {
    return function_text(*function->fn);
  }
  if (const auto* dim = value.get<Dim>()) {
    return "dim " + std::to_string(dim->size);
  }
  if (const auto* ref = value.get<host::MeshRef>()) {
    return mesh_text(called(context.layouts.meshes, ref->index));
  }
  if (const auto* ref = value.get<host::LayoutRef>()) {
    const Layout* found = called(context.layouts.layouts, ref->index);
    return found == nullptr ? "layout" : layout_text(*found, context.layouts.chosen);
  }
  if (const auto* module = value.get<std::shared_ptr<host::Module>>()) {
    return module_text((*module)->members);
  }
  if (const auto* several = value.get<host::Results>()) {
    return items_text(*several->items, device, context);
  }
  const auto* list = value.get<host::List>();
  return list != nullptr && host::has_tensor(value) ? items_text(*list->items, device, context)
                                                    : host_text(value);
}

// ---- how a session answers ---------------------------------------------------------------------

// A name that the session had and has not any more went with what was left out.
std::vector<Diag> Repl::with_ways_back(std::span<const Diag> diags) const {
  std::vector<Diag> result(diags.begin(), diags.end());
  const auto declares = [](const Script& script, std::string_view name) {
    return std::ranges::any_of(script.inputs(), [name](const Statement& statement) {
      return std::ranges::find(statement.names, name) != statement.names.end();
    });
  };
  for (Diag& diag : result) {
    if ((diag.kind != DiagKind::kUnknownName && diag.kind != DiagKind::kUnknownDim) ||
        !diag.span.file.valid()) {
      continue;
    }
    const std::string_view name = text_at(sources_, diag.span);
    const auto last = std::find_if(before_.rbegin(), before_.rend(), [&](const Before& before) {
      return declares(before.script, name);
    });
    if (last != before_.rend() && !declares(script_, name)) {
      const auto steps = last - before_.rbegin() + 1;
      diag.notes.push_back({.span = {},
                            .text = "`" + std::string(name) + "` was left out; `:undo" +
                                    (steps == 1 ? "" : " " + std::to_string(steps)) +
                                    "` brings it back"});
    }
  }
  return result;
}

bool Repl::show(std::span<const Diag> told) const {
  if (told.empty()) {
    return true;
  }
  const std::vector<Diag> diags = with_ways_back(told);
  if (json_) {  // answers and errors come in one stream
    answer(render_json(diags, sources_, /*on_one_line=*/true) + "\n");
  } else {
    output_.mistake(render(diags, sources_, color_));
  }
  return std::ranges::none_of(diags,
                              [](const Diag& diag) { return diag.severity == Severity::kError; });
}

bool Repl::refuse(DiagKind kind, std::string text) const {
  DiagSink sink;
  sink.error(kind, {}, std::move(text));
  return show(sink.diags());
}

void Repl::tell(std::string_view lines, const Fields& fields) const {
  if (json_) {
    answer(fields_json(fields) + "\n");
  } else {
    answer(lines);
  }
}

bool Repl::misused(const std::string& usage) const {
  if (json_) {
    return refuse(DiagKind::kBadArgument, usage.substr(0, usage.find('\n')));
  }
  mistake(usage);
  return false;
}

void Repl::say_value(std::string_view text) const {
  answer((json_ ? printed_json(text) : std::string(text)) + "\n");
}

void Repl::answer_names(const std::vector<std::string>& names) {
  for (const std::string& name : quiet_ ? std::vector<std::string>() : names) {
    const host::Value* value = planned_->value(name);
    if (value == nullptr) {
      continue;
    }
    if (host::is_unknown(*value) && running_ != nullptr) {
      const host::Binding* ran = running_->context().modules.files.back()->scope->own(name);
      value = ran == nullptr ? value : &ran->value;
    }
    if (json_) {
      answer(value_json(name, *value, planned_->device(), planned_->context()) + "\n");
      continue;
    }
    std::string text = value_text(*value, planned_->device(), planned_->context());
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; ++at) {
      text.replace(at, 1, "\n" + std::string(name.size() + 3, ' '));
    }
    answer(name + " : " + text + "\n");
  }
}

}  // namespace mtf

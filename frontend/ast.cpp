// Statements back to text, for `--emit ast`.

#include "frontend/ast.h"

#include <functional>

#include "ir/support/match.h"

namespace mtf::ast {
namespace {

// Appends a statement at a time; `indent_` is that of the line being written.
class Printer {
 public:
  void statements(const std::vector<Stmt>& list) {
    for (const Stmt& statement : list) {
      out_.append(indent_, ' ');
      match(statement.node, [this](const auto& node) { print(node); });
      out_ += '\n';
    }
  }

  std::string take() { return std::move(out_); }

 private:
  void print(const Import& import) {
    const Name& module = import.module;
    out_ += "import " + (import.is_file ? quote(module.text) : module.text);
    out_ += import.alias ? " as " + import.alias->text : "";
  }

  void print(const Dims& dims) {
    out_ += "dim ";
    list(dims.dims, [](const Sized& dim) { return dim.name.text + " = " + to_string(dim.size); });
  }

  void print(const Mesh& mesh) {
    out_ += "mesh " + mesh.name.text + " = [";
    list(mesh.axes, [](const Sized& axis) { return axis.name.text + ": " + to_string(axis.size); });
    out_ += mesh.profile ? "] of " + mesh.profile->text : "]";
  }

  void print(const Layout& layout) {
    out_ += "layout " + layout.name.text + (layout.mesh ? " on " + layout.mesh->text : "");
    out_ += layout.infer ? " infer" : "";
    out_ += layout.automatic ? " auto" : "";
    out_ += layout.uneven ? " uneven" : "";
    out_ += " {\n";
    indent_ += 2;
    rules(layout.rules);
    if (layout.params) {
      nested_rules("params", layout.params->rules);
    }
    for (const RulesAt& at : layout.at) {
      nested_rules((at.lets ? "at let " : "at ") + quote(at.glob.text), at.rules);
    }
    for (const LayoutOption& option : layout.options) {
      out_.append(indent_, ' ');
      out_ += option.name.text + " = " + option.value.text + "\n";
    }
    indent_ -= 2;
    out_.append(indent_, ' ');
    out_ += '}';
  }

  void print(const UseLayout& use) { out_ += "use layout " + use.layout.text; }

  void print(const Fn& fn) {
    out_ += (fn.is_model ? "model " : "fn ") + fn.name.text + "(";
    list(fn.parameters, [](const Parameter& parameter) {
      return parameter.name.text + (parameter.type ? ": " + to_string(*parameter.type) : "") +
             (parameter.initial ? " = " + to_string(*parameter.initial) : "");
    });
    out_ += fn.results.empty() ? ") " : ") -> ";
    list(fn.results, [](const TypeExpr& type) { return to_string(type); });
    out_ += fn.results.empty() ? "" : " ";
    block(fn.body);
  }

  void print(const Binding& binding) {
    out_ += binding.is_option ? "option " : binding.rebindable ? "var " : "let ";
    list(binding.names, &Name::text);
    out_ += " = " + to_string(binding.value);
  }

  void print(const Assign& assign) {
    list(assign.names, &Name::text);
    out_ += " = " + to_string(assign.value);
  }

  void print(const Update& update) {
    out_ += to_string(update.target) + " <- " + to_string(update.value);
  }

  void print(const Variable& variable) {
    out_ += (variable.trained ? "param " : "state ") + variable.name.text;
    out_ += variable.type ? " : " + to_string(*variable.type) : "";
    out_ += variable.initial ? " = " + to_string(*variable.initial) : "";
  }

  void print(const For& loop) {
    out_ += "for " + loop.variable.text + " in " + to_string(loop.over) + " ";
    out_ += loop.step ? "step " + to_string(*loop.step) + " " : "";
    out_ += loop.condition ? "while " + to_string(*loop.condition) + " " : "";
    block(loop.body);
  }

  void print(const While& loop) {
    out_ += "while " + to_string(loop.condition) + " ";
    block(loop.body);
  }

  void print(const If& choice) {
    for (const Branch& branch : choice.branches) {
      out_ += &branch == &choice.branches.front() ? "if " : " else if ";
      out_ += to_string(branch.condition) + " ";
      block(branch.body);
    }
    if (choice.otherwise) {
      out_ += " else ";
      block(*choice.otherwise);
    }
  }

  void print(const Leave& leave) { out_ += leave.for_next_turn ? "continue" : "break"; }

  void print(const Return& result) {
    out_ += result.values.empty() ? "return" : "return ";
    list(result.values, [](const Expr& value) { return to_string(value); });
  }

  void print(const Print& line) {
    out_ += line.parts.empty() ? "print" : "print ";
    list(line.parts, [](const Expr& part) { return to_string(part); });
  }

  void print(const Assert& check) {
    out_ += "assert " + to_string(check.condition);
    out_ += check.message ? ", " + to_string(*check.message) : "";
  }

  void print(const Minimize& step) {
    out_ += "minimize " + to_string(step.loss) + " with " + to_string(step.rule) + "(";
    list(step.options, [](const Argument& option) {
      return (option.name ? option.name->text + " = " : "") + to_string(option.value);
    });
    out_ += ")";
    out_ += step.params ? ", params = " + to_string(*step.params) : "";
  }

  void print(const Checkpoint& file) {
    out_ += (file.restore ? "restore " : "save ") + to_string(file.path);
    out_ += file.part ? " as " + to_string(*file.part) : "";
    for (const Argument& option : file.options) {
      out_ += ", " + option.name->text + " = " + to_string(option.value);
    }
  }

  void print(const WithLayout& region) {
    out_ += "with layout " + region.layout.text + " ";
    block(region.body);
  }

  void print(const WithPrecision& region) {
    out_ += "with precision " + region.dtype.text;
    for (const PrecisionOption& option : region.options) {
      out_ += ", " + option.name.text + " = " + option.value.text;
    }
    out_ += " ";
    block(region.body);
  }

  void print(const Recompute& region) {
    out_ += "recompute ";
    block(region.body);
  }

  void print(const Gradient& gradient) {
    out_ += "gradient ";
    list(gradient.names, [](const Name& name) { return name.text; });
    out_ += " ";
    block(gradient.body);
  }

  void print(const Expect& region) {
    out_ += "expect ";
    out_ += region.entry ? region.entry->text + " " : "";
    if (!region.layouts.empty()) {
      out_ += "under [";
      list(region.layouts, [](const Name& name) { return name.text; });
      out_ += "] ";
    }
    out_ += "{\n";
    for (const Clause& clause : region.clauses) {
      out_.append(indent_ + 2, ' ');
      out_ += to_string(clause.subject) + " " + std::string(to_string(clause.relation)) + " " +
              to_string(clause.bound) + (clause.unit ? " " + clause.unit->text : "") + "\n";
    }
    out_.append(indent_, ' ');
    out_ += '}';
  }

  void print(const Evaluate& statement) { out_ += to_string(statement.value); }

  void block(const Block& body) {
    out_ += "{\n";
    indent_ += 2;
    statements(body.statements);
    indent_ -= 2;
    out_.append(indent_, ' ');
    out_ += '}';
  }

  void rules(const std::vector<Rule>& list) {
    for (const Rule& rule : list) {
      out_.append(indent_, ' ');
      out_ += to_string(rule) + "\n";
    }
  }

  void nested_rules(const std::string& head, const std::vector<Rule>& list) {
    out_.append(indent_, ' ');
    out_ += head + " {\n";
    indent_ += 2;
    rules(list);
    indent_ -= 2;
    out_.append(indent_, ' ');
    out_ += "}\n";
  }

  static std::string quote(const std::string& text) {
    Expr expr{.span = {}, .node = String{}};
    std::get<String>(expr.node).parts.push_back({.node = text});
    return to_string(expr);
  }

  template <typename T, typename Text>
  void list(const std::vector<T>& items, Text text) {
    for (const T& item : items) {
      out_ += &item == &items.front() ? "" : ", ";
      out_ += std::invoke(text, item);
    }
  }

  std::string out_;
  std::size_t indent_ = 0;
};

}  // namespace

std::string to_string(const File& file) {
  Printer printer;
  printer.statements(file.statements);
  return printer.take();
}

std::string to_string(const Block& block) {
  Printer printer;
  printer.statements(block.statements);
  return printer.take();
}

}  // namespace mtf::ast

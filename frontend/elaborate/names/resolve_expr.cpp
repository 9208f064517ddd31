// Expressions and types: are their names known?

#include <algorithm>
#include <array>
#include <iterator>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/names/elsewhere.h"
#include "frontend/elaborate/names/modules.h"
#include "frontend/elaborate/names/resolve.h"
#include "frontend/elaborate/names/resolver.h"
#include "ir/support/match.h"

namespace mtf::host {
namespace {

constexpr std::array<std::string_view, 9> kWords{"dim",    "dims", "int",    "float", "bool",
                                                 "string", "fn",   "tensor", "list"};

bool takes_new_dims(ParamKind kind) {
  return kind == ParamKind::kNewDim || kind == ParamKind::kNewDims;
}

bool takes_dims(ParamKind kind) {
  return kind == ParamKind::kDim || kind == ParamKind::kDims || kind == ParamKind::kShape ||
         kind == ParamKind::kNewShape || takes_new_dims(kind);
}

// The parameter that an argument goes to, as far as it can be told without values.
const OpParam* param_for(const OpDef& op, const ast::Call& call, std::size_t position) {
  const ast::Argument& argument = call.arguments[position];
  if (argument.name) {
    const auto found = std::ranges::find_if(op.params, [&](const OpParam& param) {
      return names_argument(argument.name->text, param.name);
    });
    return found == op.params.end() ? nullptr : &*found;
  }
  const auto list = std::ranges::find(op.params, ParamKind::kTensors, &OpParam::kind);
  const auto over = std::ranges::find(op.params, "over", &OpParam::name);
  const bool is_in_list = list != op.params.end() && over != op.params.end() &&
                          position >= static_cast<std::size_t>(list - op.params.begin()) &&
                          tells_dims(call.arguments, call.target.has_value(), over->required);
  return is_in_list ? &*list : position < op.params.size() ? &op.params[position] : nullptr;
}

// The functions of the language that look for dims in their tensors. In `split`, which is known by
// its operands alone, any name may be one.
Resolver::BareName bare_names_of(std::string_view host_fn) {
  static constexpr std::array<std::string_view, 3> kAlongDims{"scan", "each", "unstack"};
  if (host_fn == "split") {
    return Resolver::BareName::kOperand;
  }
  const bool is_along = std::ranges::find(kAlongDims, host_fn) != kAlongDims.end();
  return is_along ? Resolver::BareName::kTaken : Resolver::BareName::kKnown;
}

// Whether the call reads a file and leaves the names of its dims to the operation.
bool names_dims_itself(const OpDef& op, const ast::Call& call) {
  bool gives_dims = false;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const OpParam* param = param_for(op, call, i);
    gives_dims = gives_dims || (param != nullptr && takes_dims(param->kind));
  }
  return op.file == FileUse::kReads && !gives_dims;
}

bool has_tensors(const OpDef& op) {
  return std::ranges::any_of(op.params, [](const OpParam& param) {
    return param.kind == ParamKind::kTensor || param.kind == ParamKind::kTensors;
  });
}

// Whether anything may stand behind `->` in a call of what the language has: of an operation, or,
// where that is null, a function, none of which takes that.
bool takes_target(const OpDef* op) {
  return op != nullptr && std::ranges::find(op->params, "to", &OpParam::name) != op->params.end();
}

// m.safetensors: what would be a member is the end of a file's name.
std::string_view file_ending(const ast::Postfix& postfix) {
  constexpr std::array<std::string_view, 5> kEndings = {"safetensors", "npy", "csv", "txt", "mtf"};
  const auto* member = std::get_if<ast::Member>(&postfix.suffixes.front().node);
  const bool is_one = member != nullptr && std::ranges::count(kEndings, member->name.text) > 0;
  return is_one ? std::string_view(member->name.text) : std::string_view();
}

}  // namespace

void Resolver::note_use(std::string_view name) {
  const Found found = find(name);
  reads_block_ = reads_block_ || levels_.back().names.contains(name);
  if (uses_ != nullptr && found.is_top_level && found.known->kind == NameKind::kFunction) {
    uses_->functions.emplace(name);
  }
}

void Resolver::behind_block(std::string_view name, const Known& ended, SourceSpan span) {
  const std::string own = in_backticks(name);
  const std::string text =
      ended.kind == NameKind::kLoop
          ? ", behind the loop that counts by it; a `var` of before the loop, which it sets, stays"
          : ", behind the block that declares it; `var " + std::string(name) +
                " = …` before the block, and `" + std::string(name) + " = …` in it, would keep it";
  c_.report.error(DiagKind::kUnknownName, span, "nothing is called " + own + " here" + text,
                  {{.span = ended.span, .text = own + " ends with its block"}});
}

void Resolver::name_ref(std::string_view name, SourceSpan span, std::vector<std::string> others) {
  note_use(name);
  if (is_known(name)) {
    return;
  }
  if (is_reported(name)) {
    c_.report.leave_out(DiagKind::kUnknownName, span);
    return;
  }
  if (const auto later = later_.find(name); later != later_.end()) {
    c_.report.error(DiagKind::kUnknownName, span,
                    "`" + std::string(name) + "` is used above its declaration",
                    {{.span = later->second, .text = "declared here"}});
    return;
  }
  if (const Known* ended = in_ended_block(name)) {
    behind_block(name, *ended, span);
    return;
  }
  std::vector<std::string> candidates = visible();
  std::ranges::move(others, std::back_inserter(candidates));
  for (const OpDef* op : c_.units.ops) {
    candidates.emplace_back(op->name);
  }
  for (const HostFn& fn : host_functions()) {
    candidates.emplace_back(fn.name);
  }
  Suggestion suggestion = suggest_known(name, candidates);
  if (std::string found = in_module(name); !found.empty()) {
    suggestion = {.text = std::move(found), .fix = {}};
  } else if (is_taken_as_dim(name)) {
    suggestion = {.text = " but a dim of tensors; `dim " + std::string(name) +
                          " = …`, with its size, declares it",
                  .fix = {}};
  } else if (suggestion.text.empty()) {
    suggestion.text = alike_in_module(name);
  }
  c_.report.error(DiagKind::kUnknownName, span,
                  "nothing is called `" + std::string(name) + "` here" + suggestion.text, {},
                  suggestion.fix);
}

void Resolver::expr(const ast::Expr& expression) {
  match(
      expression.node,  //
      [](const ast::Int&) {}, [](const ast::Float&) {}, [](const ast::Bool&) {},
      [&](const ast::String& string) {
        for (const ast::StringPart& part : string.parts) {
          if (const auto* inner = std::get_if<ast::Expr>(&part.node)) {
            expr(*inner);
          }
        }
      },
      [&](const ast::NameRef& name) { name_ref(name.text, expression.span); },
      [&](const ast::Bracket& list) { bracket(list, BareName::kKnown); },
      [&](const ast::Range& range) {
        expr(*range.begin);
        expr(*range.end);
      },
      [&](const ast::Unary& unary) { expr(*unary.operand); },
      [&](const ast::Chain& chain) {
        expr(*chain.first);
        for (const ast::Link& link : chain.links) {
          const ast::NameRef* name = ast::as_name(link.operand);
          if (link.op == ast::BinaryOp::kFloorDivide && name != nullptr && !is_known(name->text)) {
            c_.report.error(DiagKind::kUnknownName, link.operand.span,
                            "nothing is called `" + name->text +
                                "` here; `//` divides, a comment starts with `#`");
            continue;
          }
          expr(link.operand);
        }
      },
      [&](const ast::Postfix& base) { postfix(base); });
}

void Resolver::bracket(const ast::Bracket& list, BareName may_be) {
  for (const ast::Element& element : list.elements) {
    if (const auto* sized = std::get_if<ast::Sized>(&element.node)) {
      expr(sized->size);
      declare_inline(sized->name);
    } else if (const auto* value = std::get_if<ast::Expr>(&element.node)) {
      argument(*value, may_be);
    }
  }
}

void Resolver::argument(const ast::Expr& value, BareName may_be) {
  const ast::NameRef* name = ast::as_name(value);
  const auto* list = std::get_if<ast::Bracket>(&value.node);
  if (name != nullptr && may_be == BareName::kOperand) {
    c_.modules.dims.insert(name->text);
    take_as_dim(name->text);
  } else if (list != nullptr) {
    bracket(*list, may_be);
  } else if (name == nullptr || may_be == BareName::kKnown || !is_taken_as_dim(name->text)) {
    expr(value);
  }
}

// Of a function of the user, which parameters take dims is known when it is called; `over` does
// wherever there is one.
void Resolver::function_argument(const ast::Argument& given, BareName may_be) {
  const ast::NameRef* name = ast::as_name(given.value);
  const bool is_over = name != nullptr && given.name && given.name->text == "over";
  if (is_over && may_be == BareName::kTaken && !is_taken_as_dim(name->text)) {
    dim_or_shape(given.value, "`dim " + name->text + " = …`, with its size, declares it");
    return;
  }
  argument(given.value, may_be);
}

void Resolver::operation_argument(const OpDef& op, const ast::Call& call, std::size_t position) {
  const OpParam* param = param_for(op, call, position);
  // Beyond the parameters: after a list of tensors, whose length shifts the others.
  const bool is_dims = param == nullptr ? has_tensors(op)
                                        : takes_dims(param->kind) &&
                                              (has_tensors(op) || takes_new_dims(param->kind));
  const ast::Expr& value = call.arguments[position].value;
  const auto* list = std::get_if<ast::Bracket>(&value.node);
  if (list != nullptr && param != nullptr && tells_sizes(op, *param)) {
    file_dims(*list);
  } else if (list != nullptr && !is_dims && param != nullptr && takes_dims(param->kind)) {
    type_dims(*list);
  } else {
    argument(value, is_dims ? BareName::kOperand : BareName::kKnown);
  }
}

void Resolver::call(const ast::Call& call, const OpDef* op, BareName may_be, bool is_builtin) {
  const bool has_operands = op != nullptr && has_tensors(*op);
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (op == nullptr) {
      function_argument(call.arguments[i], may_be);
    } else {
      operation_argument(*op, call, i);
    }
  }
  // What takes nothing behind `->` says so, and no more is said of it.
  if (call.target && (!is_builtin || takes_target(op))) {
    argument(*call.target, has_operands ? BareName::kOperand : BareName::kKnown);
  }
  if (call.name) {
    expr(*call.name);
  }
}

void Resolver::member(const ast::Postfix* first_of, const ast::Member& member) {
  if (member.path != nullptr) {
    return expr(*member.path);
  }
  const ast::NameRef* base = first_of == nullptr ? nullptr : ast::as_name(*first_of->base);
  if (base == nullptr || find(base->text).known == nullptr ||
      find(base->text).known->kind != NameKind::kModule) {
    return;
  }
  for (const auto& [import, module] : module_.imports) {
    if (name_of(*import).text != base->text || module == nullptr) {
      continue;
    }
    if (std::ranges::find(module->members, member.name.text) == module->members.end()) {
      no_member(c_.report, c_.units.ops, *module, base->text, member.name);
    } else if (!module->is_standard) {
      NamesOfImports& known = uses_ != nullptr ? uses_->functions : c_.modules.imported[&module_];
      known.insert(base->text + "." + member.name.text);
    }
  }
}

void Resolver::note_file(const OpDef* op, const ast::Call& call) {
  if (op != nullptr && names_dims_itself(*op, call)) {
    c_.modules.reads_own_dims = true;
  }
}

void Resolver::index(const ast::Index& index) {
  for (const ast::IndexItem& item : index.items) {
    for (const std::optional<ast::Name>* dim : {&item.dim, &item.as}) {
      if (*dim) {
        note_dim(**dim);
      }
    }
    expr(item.value);
    if (item.as) {
      take_as_dim(item.as->text);
    }
  }
}

void Resolver::postfix(const ast::Postfix& postfix) {
  const ast::NameRef* base = ast::as_name(*postfix.base);
  if (const std::string_view ending = file_ending(postfix);
      base != nullptr && !ending.empty() && !is_known(base->text)) {
    c_.report.error(DiagKind::kUnknownName, postfix.base->span,
                    "nothing is called `" + base->text + "` here; a path stands in quotes: `\"" +
                        base->text + "." + std::string(ending) + "\"`");
    return;
  }
  expr(*postfix.base);
  const bool is_builtin = base != nullptr && find(base->text).known == nullptr;
  const OpDef* op = is_builtin ? find_op(c_.units.ops, base->text) : nullptr;
  // Of an operation, each parameter says it.
  const BareName may_be = is_builtin ? bare_names_of(base->text) : BareName::kTaken;
  for (const ast::Suffix& suffix : postfix.suffixes) {
    const bool is_first = &suffix == &postfix.suffixes.front();
    const OpDef* called = is_first ? op : nullptr;
    match(
        suffix.node,  //
        [&](const ast::Call& arguments) {
          note_file(called, arguments);
          call(arguments, called, is_first ? may_be : BareName::kTaken, is_first && is_builtin);
        },
        [&](const ast::Index& of) { index(of); },
        [&](const ast::Member& part) { member(is_first ? &postfix : nullptr, part); },
        [](const ast::Pin&) {});
  }
}

void Resolver::type(const ast::TypeExpr& type) {
  const std::string& name = type.name.text;
  const bool is_word = std::ranges::find(kWords, name) != kWords.end();
  if (type.dims && find_dtype(name)) {
    type_dims(*type.dims);
    return;
  }
  if (is_word && !type.dims) {
    return;
  }
  if (find_dtype(name)) {
    c_.report.error(DiagKind::kWrongType, type.span,
                    "`" + name + "` needs its dims; `" + name + "[]` is a scalar tensor", {},
                    name + "[]");
    return;
  }
  std::vector<std::string> candidates(kWords.begin(), kWords.end());
  candidates.insert(candidates.end(), {"f32", "f64", "bf16", "i32", "i64", "u8"});
  const Suggestion suggestion = suggest_known(name, candidates);
  c_.report.error(DiagKind::kUnknownName, type.name.span,
                  is_word ? "`" + name +
                                "` has no dims; the type of a tensor begins with its dtype: `" +
                                (name == "int"    ? "i32"
                                 : name == "bool" ? "bool"
                                                  : "f32") +
                                "[…]`"
                          : "`" + name + "` is not a type" + suggestion.text,
                  {}, is_word ? "" : suggestion.fix);
}

void Resolver::type_dims(const ast::Bracket& dims) {
  for (const ast::Element& element : dims.elements) {
    if (const auto* sized = std::get_if<ast::Sized>(&element.node)) {
      expr(sized->size);
      declare_inline(sized->name);
      continue;
    }
    if (const auto* value = std::get_if<ast::Expr>(&element.node)) {
      const ast::NameRef* name = ast::as_name(*value);
      dim_or_shape(*value, name == nullptr ? "" : "`" + name->text + ": 128` declares it here");
    }
  }
}

// A part of a shape: where nothing has its name, that should be a dim's.
void Resolver::dim_or_shape(const ast::Expr& part, const std::string& otherwise) {
  const ast::NameRef* name = ast::as_name(part);
  if (name == nullptr || is_known(name->text) || later_.find(name->text) != later_.end()) {
    expr(part);
    return;
  }
  if (is_reported(name->text)) {
    c_.report.leave_out(DiagKind::kUnknownName, part.span);
    return;
  }
  std::vector<std::string> candidates = visible();
  std::ranges::copy(function_level().taken_as_dims, std::back_inserter(candidates));
  const std::string imported = in_imported(name->text, /*is_dim=*/true);
  const Suggestion suggestion =
      imported.empty() ? suggest(name->text, candidates) : Suggestion{.text = imported, .fix = {}};
  const std::string mesh = mesh_with_axis(name->text);
  const std::string hint = mesh.empty() ? "; " + otherwise
                                        : "; it is an axis of the mesh `" + mesh +
                                              "`, over which a layout splits dims: `batch -> " +
                                              name->text + "`";
  c_.report.error(DiagKind::kUnknownDim, part.span,
                  "no dim `" + name->text + "` is declared" +
                      (suggestion.text.empty() || !mesh.empty() ? hint : suggestion.text),
                  {}, mesh.empty() ? suggestion.fix : "");
}

}  // namespace mtf::host

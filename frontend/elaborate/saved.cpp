// A session as it was before a statement.
//
// Values do not change once they are there, so names and what they stand for are copied; functions
// that were built since are put aside.

#include "frontend/elaborate/names/modules.h"
#include "frontend/elaborate/names/resolve.h"
#include "frontend/elaborate/session.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf {

struct host::Saved {
  std::map<std::string, Binding, std::less<>> names;
  Layouts layouts;
  decltype(Variables::by_path) variables;
  decltype(Variables::called) called;
  decltype(Modules::by_key) modules;
  std::map<const ast::Fn*, std::size_t> built;  // how many of each function
  Settings settings;
  std::vector<Contract> contracts;
  std::map<std::string, DType> written;
  std::set<std::string> dim_names;
  Limits limits;
  std::size_t told = 0;  // places that something was said of
};

const host::Context& Session::context() const {
  return state_->context;
}

host::Value Session::evaluate(ast::File file) {
  host::Context& c = state_->context;
  c.limits.begin_on_this_stack();
  host::Module& current = state_->add(std::move(file));
  current.is_answered = true;
  const host::Restore scope(c.names.scope, state_->scope);
  if (!host::resolve(c, current)) {
    c.report.fail();
    return host::unknown();
  }
  const auto& only = std::get<ast::Evaluate>(current.file.statements.front().node);
  return host::compute(c, only.value);
}

std::shared_ptr<const host::Saved> Session::save() const {
  const host::Context& c = state_->context;
  auto saved = std::make_shared<host::Saved>();
  saved->names = state_->scope->names();
  saved->layouts = c.layouts;
  saved->variables = c.variables.by_path;
  saved->called = c.variables.called;
  saved->modules = c.modules.by_key;
  for (const auto& [fn, functions] : c.units.built) {
    saved->built.emplace(fn, functions.size());
  }
  saved->settings = c.settings;
  saved->contracts = c.contracts;
  saved->written = c.execution.written;
  saved->dim_names = c.names.dims;
  saved->limits = c.limits;
  saved->told = c.report.told();
  return saved;
}

void Session::switch_to(const Layout& layout, std::span<const Layout> declared) {
  host::Layouts& layouts = state_->context.layouts;
  layouts.layouts.assign(declared.begin(), declared.end());
  layouts.in_use = layout;
  layouts.chosen = &*layouts.in_use;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (state_->scope->own(declared[i].name) == nullptr) {
      state_->scope->declare(declared[i].name, {.value = host::make(host::LayoutRef{i + 1}),
                                                .kind = host::NameKind::kLayout,
                                                .span = declared[i].span});
    }
  }
}

void Session::restore(const host::Saved& saved) {
  host::Context& c = state_->context;
  c.units.recordings.clear();  // of what was thrown out of
  c.modules.loading.clear();
  c.report.forget_since(saved.told);
  state_->scope->restore(saved.names);
  c.layouts = saved.layouts;  // in its place, where `chosen` points to
  c.variables.by_path = saved.variables;
  c.variables.called = saved.called;
  c.modules.by_key = saved.modules;
  for (auto& [fn, functions] : c.units.built) {
    const auto known = saved.built.find(fn);
    const std::size_t kept = known == saved.built.end() ? 0 : known->second;
    while (functions.size() > kept) {
      state_->undone.push_back(std::move(functions.back()));
      functions.pop_back();
    }
  }
  c.settings = saved.settings;
  c.contracts = saved.contracts;
  c.execution.written = saved.written;
  c.names.dims = saved.dim_names;
  c.limits = saved.limits;
}

}  // namespace mtf

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
  std::map<std::string, std::shared_ptr<VariableRecord>, std::less<>> variables;
  std::map<std::string, std::shared_ptr<Module>> modules;
  std::map<const ast::Fn*, std::size_t> built;  // how many of each function
  std::set<std::string> settings_asked;
  std::vector<Contract> contracts;
  std::map<std::string, DType> written;
  std::set<std::string> dim_names;
  std::size_t statements = 0;
  std::size_t max_check_statements = 0;
  bool ended = false;
};

const host::Context& Session::context() const {
  return state_->context;
}

host::Value Session::evaluate(ast::File file) {
  host::Context& c = state_->context;
  c.stack_base = static_cast<const char*>(__builtin_frame_address(0));
  const host::Module& current = state_->add(std::move(file));
  const host::Restore scope(c.scope, state_->scope);
  if (!host::resolve(c, current)) {
    c.fail();
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
  saved->variables = c.variables;
  saved->modules = c.modules;
  for (const auto& [fn, functions] : c.built) {
    saved->built.emplace(fn, functions.size());
  }
  saved->settings_asked = c.settings_asked;
  saved->contracts = c.contracts;
  saved->written = c.written;
  saved->dim_names = c.dim_names;
  saved->statements = c.statements;
  saved->max_check_statements = c.options.max_check_statements;
  saved->ended = c.ended;
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
  c.recordings.clear();  // of what was thrown out of
  c.loading.clear();
  c.dry = false;
  state_->scope->restore(saved.names);
  c.layouts = saved.layouts;  // in its place, where `chosen` points to
  c.variables = saved.variables;
  c.modules = saved.modules;
  for (auto& [fn, functions] : c.built) {
    const auto known = saved.built.find(fn);
    const std::size_t kept = known == saved.built.end() ? 0 : known->second;
    while (functions.size() > kept) {
      state_->undone.push_back(std::move(functions.back()));
      functions.pop_back();
    }
  }
  c.settings_asked = saved.settings_asked;
  c.contracts = saved.contracts;
  c.written = saved.written;
  c.dim_names = saved.dim_names;
  c.statements = saved.statements;
  c.options.max_check_statements = saved.max_check_statements;
  c.ended = saved.ended;
}

}  // namespace mtf

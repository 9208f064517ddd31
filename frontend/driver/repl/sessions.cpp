#include "frontend/driver/repl/sessions.h"

#include "frontend/driver/workspace.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

ElaborateOptions one_by_one(const Options& options, const AutoLayouts& layouts, bool check) {
  ElaborateOptions result = elaborate_options(options);
  result.interactive = true;
  result.search = layouts.search;
  result.puts_off = layouts.puts_off;
  result.check = check;
  result.before_statement = throw_if_interrupted;
  return result;
}

}  // namespace

PlannedSession::PlannedSession(const Options& options, SourceMap& sources,
                               const AutoLayouts& layouts)
    : device_(op_table(), !options.fast),
      session_(one_by_one(options, layouts, /*check=*/true), sources, device_, diags_) {}

bool PlannedSession::run(ast::File file) {
  const std::size_t before = diags_.errors();
  session_.run(std::move(file));
  return diags_.errors() == before;
}

host::Value PlannedSession::evaluate(ast::File file) {
  return session_.evaluate(std::move(file));
}

PlannedState PlannedSession::save() const {
  return {.session = session_.save(), .held = device_.held(), .layout = device_.layout()};
}

void PlannedSession::restore(PlannedState state) {
  session_.restore(*state.session);
  device_.restore(std::move(state.held), std::move(state.layout));
}

const host::Value* PlannedSession::value(std::string_view name) const {
  const auto& files = context().modules.files;
  const host::Binding* binding = files.empty() ? nullptr : files.back()->scope->own(name);
  return binding == nullptr ? nullptr : &binding->value;
}

RunningSession::RunningSession(const Options& options, SourceMap& sources, const FindLayout& find,
                               Print print, Workers* workers)
    : print_(std::move(print)), interruption_(options.deadline) {
  const auto show = [this](std::string_view line) {
    if (!quiet_) {
      print_(line);
    }
  };
  device_ = std::make_unique<SessionDevice>(ExecuteOptions{.ops = op_table(),
                                                           .exact = !options.fast,
                                                           .nan_is_error = options.nan_is_error,
                                                           .seed = options.seed,
                                                           .max_memory = options.max_memory,
                                                           .check_plan = plans_are_to_be_checked(),
                                                           .print = show,
                                                           .after_run = {},
                                                           .observe = {},
                                                           .interruption = &interruption_,
                                                           .is_open = true},
                                            workers);
  session_ = std::make_unique<Session>(
      one_by_one(options, {.search = find, .puts_off = {}}, /*check=*/false), sources, *device_,
      diags_);
}

bool RunningSession::replay(ast::File file) {
  const host::Restore quiet(quiet_, true);
  const std::size_t before = diags_.errors();
  session_->run(std::move(file));
  return diags_.errors() == before;
}

bool RunningSession::run(ast::File file) {
  const std::size_t before = diags_.errors();
  const std::shared_ptr<const host::Saved> saved = session_->save();
  device_->begin();
  const auto take_back = [&] {
    session_->restore(*saved);
    device_->undo();
  };
  try {
    session_->run(std::move(file));
  } catch (...) {
    take_back();
    throw;
  }
  if (diags_.errors() == before) {
    return true;
  }
  take_back();
  return false;
}

bool RunningSession::switch_to(PlannedSession& planned) {
  const Layout* from = session_->layout();
  const Layout* to = planned.session().layout();
  if (from == nullptr || to == nullptr || session_->follows_layout() ||
      planned.session().follows_layout() || from->mesh.name != to->mesh.name ||
      from->mesh.axes != to->mesh.axes || from->mesh.uneven != to->mesh.uneven) {
    return false;
  }
  if (!device_->switch_to(*to, planned.device().held(), diags_)) {
    return false;
  }
  session_->switch_to(*to, planned.session().layouts());
  return true;
}

std::vector<std::string> RunningSession::held() const {
  std::vector<std::string> names;
  const host::Context& context = session_->context();
  if (!context.modules.files.empty()) {
    for (const auto& [name, binding] : context.modules.files.back()->scope->names()) {
      if (host::has_tensor(binding.value)) {
        names.push_back(name);
      }
    }
  }
  for (const auto& [path, record] : context.variables.by_path) {
    names.push_back(path);
  }
  return names;
}

}  // namespace mtf

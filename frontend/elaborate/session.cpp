// A session: files run one after the other on one state.

#include "frontend/elaborate/session.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/layouts/hardware.h"
#include "frontend/elaborate/names/modules.h"
#include "frontend/elaborate/names/resolve.h"
#include "frontend/elaborate/tensors/entries.h"

namespace mtf {

Session::State::State(ElaborateOptions session_options, SourceMap& sources, Device& device,
                      DiagSink& diags)
    : options(std::move(session_options)),
      context(options, sources, device, diags),
      scope(std::make_shared<host::Scope>()) {}

Session::State::~State() {
  // Functions hold the scopes that hold them.
  for (const std::weak_ptr<host::Scope>& closure : context.names.closures) {
    if (const std::shared_ptr<host::Scope> locked = closure.lock()) {
      locked->clear();
    }
  }
  scope->clear();
}

Session::Session(ElaborateOptions options, SourceMap& sources, Device& device, DiagSink& diags)
    : state_(std::make_unique<State>(std::move(options), sources, device, diags)) {}

Session::~Session() = default;

host::Module& Session::State::add(ast::File file) {
  host::Context& c = context;
  auto module = std::make_unique<host::Module>();
  module->name = "this file";
  module->scope = scope;
  module->is_main = true;
  module->ran = true;
  module->file = std::move(file);
  const std::string& path = c.modules.sources.file(module->file.id).path;
  if (!path.empty()) {
    std::error_code problem;
    const auto full = std::filesystem::weakly_canonical(path, problem);
    module->path = full.string();
    module->folder = full.parent_path().string();
    c.modules.loading = {module->path};
  }
  c.modules.files.push_back(std::move(module));
  return *c.modules.files.back();
}

void Session::run(ast::File file) {
  host::Context& c = state_->context;
  c.limits.begin_on_this_stack();
  host::Module& current = state_->add(std::move(file));
  if (state_->options.interactive) {
    c.limits.start_over();
  }
  host::load_imports(c.modules, c.report, current);
  host::run_module(c, current);
  if (!host::is_put_off(c.layouts)) {
    static_cast<void>(host::put_in_use(c.report, c.layouts, c.execution));
  }
  if (!state_->options.interactive && !c.limits.ended) {
    c.execution.end();
  }
  c.names.are_cut_short = c.limits.ended;
  if (state_->options.check) {
    state_->entry_check = host::check_entries(c, state_->options.leave_out_first);
  }
  if (state_->options.check && !state_->options.interactive) {
    host::check_layouts(c);
    host::check_settings(c.report, c.settings);
  }
}

std::span<const Layout> Session::layouts() const {
  return state_->context.layouts.layouts;
}

std::span<const Layout> Session::layouts_to_choose() const {
  return host::layouts_to_choose(state_->context.layouts);
}

std::span<const Mesh> Session::meshes() const {
  return state_->context.layouts.meshes;
}

const Layout* Session::layout() const {
  return state_->context.layouts.chosen;
}

bool Session::follows_layout() const {
  const host::Layouts& layouts = state_->context.layouts;
  return layouts.pins_all || !layouts.in_regions.empty();
}

bool Session::serves_regions_alone(std::string_view layout) const {
  const host::Layouts& layouts = state_->context.layouts;
  const auto in_region_alone = [&](std::string_view name) {
    return layouts.in_regions.contains(name) && !layouts.expected.contains(name) &&
           !(layouts.use && layouts.use->text == name) &&
           state_->context.layouts.asked.layout != name;
  };
  return in_region_alone(layout) &&
         !std::ranges::all_of(layouts.layouts, in_region_alone, &Layout::name);
}

const ast::File& Session::file() const {
  return state_->context.modules.files.back()->file;
}

std::optional<HardwareChoice> Session::hardware(std::string_view name) {
  host::Context& c = state_->context;
  const host::Restore scope(c.names.scope, state_->scope);
  return host::hardware_named(c, name);
}

std::vector<std::string> Session::hardware_names() {
  return host::hardware_names(state_->context);
}

bool Session::has_save() const {
  return state_->context.modules.have_save;
}

EntryCheck Session::entry_check() const {
  return state_->entry_check;
}

std::vector<Entry> Session::entries() const {
  return host::entries_of(state_->context.modules);
}

bool Session::has_entry(std::string_view name) const {
  return host::has_entry(state_->context.modules, name);
}

std::vector<NoEntry> Session::no_entries() const {
  return host::no_entries_of(state_->context.modules);
}

std::optional<NoEntry> Session::why_no_entry(std::string_view name) const {
  return host::why_no_entry(state_->context.modules, name);
}

void Session::find_idle_statements(DiagSink& found) const {
  host::find_idle_statements(state_->context, found);
}

std::span<const Contract> Session::contracts() const {
  return state_->context.contracts;
}

const Unit* Session::build(std::string_view entry, bool is_wanted) {
  host::Context& c = state_->context;
  c.limits.begin_on_this_stack();
  const Unit* unit = host::build_named(c, entry, is_wanted);
  if (unit != nullptr && unit->program.name.empty()) {
    throw std::logic_error("the program of " + std::string(entry) + " was taken");
  }
  return unit;
}

Program Session::take(std::string_view entry) {
  return std::exchange(host::build_named(state_->context, entry, false)->program, {});
}

}  // namespace mtf

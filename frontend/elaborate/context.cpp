#include "frontend/elaborate/context.h"

namespace mtf::host {

Context::Context(const ElaborateOptions& options, SourceMap& sources, Device& device,
                 DiagSink& diags)
    : report(diags),
      execution(device, options.check, report),
      limits(options),
      modules{.sources = sources,
              .standard_text = options.module_text,
              .standard_names = options.module_names,
              .files = {},
              .by_key = {},
              .loading = {}},
      units(options.ops, options.as_written, execution, report),
      settings{.given = options.settings,
               .before_dashes = options.before_dashes,
               .asked = {},
               .options = {}} {
  if (options.precision && options.precision->products != DType::kF32) {
    units.precision = options.precision;
  }
  layouts.asked = {.layout = options.layout,
                   .mesh = options.mesh,
                   .is_one_of_all = options.is_one_of_all,
                   .rules = options.rules,
                   .one_rank = options.one_rank,
                   .given = options.given,
                   .search = options.search,
                   .searches_all = options.search_all,
                   .in_session = options.interactive,
                   .puts_off = options.puts_off};
}

}  // namespace mtf::host

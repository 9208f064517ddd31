#include "lowering/search/pricer.h"

#include <algorithm>
#include <utility>

#include "ir/rewrite/rewrite.h"
#include "lowering/price/price.h"
#include "lowering/steps/bucket.h"

namespace mtf {
namespace {

// Of a block of one size for all there is nothing to measure; of others each rank's is looked at.
std::int64_t looks_to_measure(const SpmdProgram& plan) {
  std::int64_t looks = 0;
  for (const Step& step : plan.steps) {
    looks += step.kind == StepKind::kAllToAll ? plan.mesh.size_of(step.axes) : 0;
  }
  return plan.mesh.uneven ? looks : 0;
}

constexpr double kMuch = 0.05;  // of the peak, for what is planned once more to know

// Of all-reduces that go in one message with others.
std::int64_t packed_bytes(const SpmdProgram& plan) {
  std::int64_t bytes = 0;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (plan.steps[s].kind == StepKind::kAllReduce && message_of(plan, s).size() > 1) {
      bytes += plan.at(plan.steps[s].from).local.bytes();
    }
  }
  return bytes;
}

}  // namespace

Pricer::Pricer(const SearchSpace& space, Programs programs, PricerOptions options)
    : space_(space), programs_(std::move(programs)), options_(std::move(options)) {
  for (const Mesh& mesh : space_.meshes()) {
    hardware_.push_back(options_.hardware(mesh));
  }
}

std::span<const Program> Pricer::programs(const LayoutCandidate& candidate) {
  const std::span<const Program> written = programs_(candidate.mesh);
  if (candidate.recompute) {
    return written;
  }
  const auto [found, is_new] = kept_.try_emplace(written.data(), written.begin(), written.end());
  if (is_new) {
    std::ranges::for_each(found->second, keep_recomputed);
  }
  return found->second;
}

const Pricer::Samples& Pricer::samples(const LayoutCandidate& candidate) {
  const std::span<const Program> programs = this->programs(candidate);
  const auto [found, is_new] = samples_.try_emplace(programs.data());
  Samples& result = found->second;
  if (!is_new) {
    return result;
  }
  result.owned.reserve(programs.size());
  for (const Program& program : programs) {
    // An `expect` is about the whole plan.
    std::optional<LayerSamples> layers = options_.refuses ? std::nullopt : layer_samples(program);
    if (!layers) {
      result.entries.push_back({{.program = &program}});
      continue;
    }
    result.owned.push_back(*std::move(layers));
    const LayerSamples& kept = result.owned.back();
    const auto further = static_cast<double>(kept.further);
    result.entries.push_back({{.program = &kept.more, .weight = 1 + further},
                              {.program = &kept.fewer, .weight = -further}});
  }
  return result;
}

const Priced& Pricer::price(const LayoutCandidate& candidate) {
  const auto found = known_.find(candidate);
  return found != known_.end()
             ? found->second
             : known_.emplace(candidate, priced(candidate, samples(candidate).entries))
                   .first->second;
}

const Priced& Pricer::price_whole(const LayoutCandidate& candidate) {
  if (samples(candidate).owned.empty()) {
    return price(candidate);
  }
  const auto found = whole_.find(candidate);
  if (found != whole_.end()) {
    return found->second;
  }
  std::vector<std::vector<Sample>> entries;
  for (const Program& program : programs(candidate)) {
    entries.push_back({{.program = &program}});
  }
  return whole_.emplace(candidate, priced(candidate, entries)).first->second;
}

const Priced& Pricer::closest(const Priced& priced) const {
  const auto found = whole_.find(priced.candidate);
  return found != whole_.end() ? found->second : priced;
}

Priced Pricer::least_whole(const Priced& priced) {
  if (samples(priced.candidate).owned.empty()) {
    return priced;
  }
  if (const auto found = whole_.find(priced.candidate); found != whole_.end()) {
    return found->second;
  }
  Priced least = priced;
  least.peak_bytes = priced.least_bytes;
  return least;
}

Priced Pricer::priced(const LayoutCandidate& candidate,
                      std::span<const std::vector<Sample>> entries) {
  Priced result{.candidate = candidate, .is_legal = false, .obstacle = {}};
  const Layout layout = space_.layout_of(candidate);
  for (std::size_t entry = 0; entry < entries.size() && result.obstacle.empty(); ++entry) {
    result.obstacle = add_entry(entry, entries[entry], layout, result);
  }
  result.is_legal = result.obstacle.empty();
  result.axes = splitting_axes(space_.meshes()[candidate.mesh]);
  return result;
}

std::optional<SpmdProgram> Pricer::planned(const Program& program, const Layout& layout,
                                           const LowerOptions& options, DiagSink& diags) {
  constexpr std::int64_t kRefused = 8;  // values that no rules fit, in the time of one lowered
  const std::int64_t before = cache_.looks();
  std::optional<SpmdProgram> plan = lower_simplified(program, layout, options_.ops, diags, options);
  lowered_ += std::ssize(program.values) / (plan ? 1 : kRefused);
  const std::int64_t looks = cache_.looks() - before + (plan ? looks_to_measure(*plan) : 0);
  planning_looks_ += looks;
  looks_ += looks;
  return plan;
}

LowerOptions Pricer::options(bool is_whole) {
  return {.exact = options_.exact,
          .price_only = !options_.refuses,
          .rough_peak = !is_whole,  // the whole has other gaps
          .cache = &cache_};
}

// What waits in a bucket is there at once: all that a few layers have, but of many no more than one
// bucket holds.
double Pricer::peak_of_all(const std::vector<Sample>& samples, const Layout& layout,
                           const SampledPeak& sampled) {
  if (samples.size() == 1 || sampled.packed - kMostPacked <= kMuch * sampled.peak) {
    return sampled.peak;
  }
  double peak = kMostPacked;
  for (const auto& [program, weight] : samples) {
    DiagSink none;
    LowerOptions apart = options(false);
    apart.packs = false;
    const std::optional<SpmdProgram> plan = planned(*program, layout, apart, none);
    peak += plan ? weight * static_cast<double>(plan->totals.peak_bytes) : 0;
  }
  return std::min(peak, sampled.peak);
}

std::string Pricer::add_entry(std::size_t entry, const std::vector<Sample>& samples,
                              const Layout& layout, Priced& result) {
  const bool is_whole = samples.size() == 1;
  SampledPeak sampled;
  double received = 0;
  for (const auto& [program, weight] : samples) {
    DiagSink diags;
    const std::optional<SpmdProgram> plan = planned(*program, layout, options(is_whole), diags);
    if (!plan) {
      return diags.diags().empty() ? "it does not fit" : diags.diags().front().text;
    }
    if (Refusal refused = is_whole && options_.refuses ? options_.refuses(entry, *plan) : Refusal();
        !refused.why.empty()) {
      result.beyond = refused.beyond;
      return refused.why;
    }
    const Prices prices = mtf::price(*plan, hardware_[result.candidate.mesh]);
    result.seconds += weight * prices.seconds();
    result.communication += weight * prices.communication;
    sampled.peak += weight * static_cast<double>(plan->totals.peak_bytes);
    sampled.at_rest += weight * static_cast<double>(plan->totals.peak_bytes - plan->arena_bytes);
    sampled.most_computed = std::max(sampled.most_computed, plan->arena_bytes);
    sampled.packed += weight * static_cast<double>(packed_bytes(*plan));
    for (const CollectiveTotal& total : plan->totals.collectives) {
      received += weight * static_cast<double>(total.bytes);
      result.gathers = result.gathers || total.kind == StepKind::kAllGather;
    }
  }
  const double peak = peak_of_all(samples, layout, sampled);
  result.peak_bytes = std::max(result.peak_bytes, static_cast<std::int64_t>(peak));
  result.least_bytes = std::max(result.least_bytes,
                                static_cast<std::int64_t>(sampled.at_rest) + sampled.most_computed);
  result.received_bytes += static_cast<std::int64_t>(received);
  return "";
}

}  // namespace mtf

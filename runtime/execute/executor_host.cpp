// Reports of kernels. A failure travels between ranks as bytes: all ranks hold the same sources, so
// its spans mean the same everywhere.

#include "runtime/execute/executor_host.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace mtf {
namespace {

template <typename T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void put_text(std::string& bytes, std::string_view text) {
  put(bytes, text.size());
  bytes.append(text);
}

template <typename T>
T take(std::string_view& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes.remove_prefix(sizeof(T));
  return value;
}

std::string take_text(std::string_view& bytes) {
  const auto size = take<std::size_t>(bytes);
  std::string text(bytes.substr(0, size));
  bytes.remove_prefix(size);
  return text;
}

}  // namespace

Diag Reports::diag(DiagKind kind, Severity severity, std::string text) const {
  Diag diag;
  diag.kind = kind;
  diag.severity = severity;
  diag.text = std::move(text);
  if (call != nullptr && program != nullptr && call->origin.valid()) {
    diag.span = program->source.at(call->origin).span;
    diag.notes = notes_of(program->source, call->origin);
  }
  return diag;
}

void RankHost::print(std::string_view line) {
  if (rank_ == 0 && reports_.print) {
    reports_.print(line);
  }
}

void RankHost::metric(std::string_view name, double value, std::optional<std::int64_t> step) {
  if (rank_ == 0 && reports_.metric) {
    reports_.metric(name, value, step);
  }
}

void RankHost::fail(DiagKind kind, std::string text) {
  fail(reports_.diag(kind, Severity::kError, std::move(text)));
}

void RankHost::fail(Diag diag, std::int64_t call, std::int64_t element) {
  const FailureOrder now{.moment = reports_.moment, .call = call, .element = element};
  if (!failure_ || now < failed_at_) {
    failure_ = std::move(diag);
    failed_at_ = now;
  }
}

void RankHost::warn(DiagKind kind, std::string text) {
  if (reports_.nan_is_error && kind == DiagKind::kNotANumber) {
    return fail(kind, std::move(text));
  }
  if (rank_ != 0) {
    return;
  }
  Diag diag = reports_.diag(kind, Severity::kWarning, std::move(text));
  if (reports_.warned.emplace(kind, diag.span.file.index, diag.span.begin).second) {
    reports_.warnings.push_back(std::move(diag));
  }
}

std::optional<Diag> agreed_failure(Communicator& communicator, const std::vector<RankHost>& hosts) {
  const bool here =
      std::ranges::any_of(hosts, [](const RankHost& host) { return host.failure().has_value(); });
  if (!communicator.any(here)) {
    return std::nullopt;
  }
  std::vector<std::string> mine;
  mine.reserve(hosts.size());
  for (const RankHost& host : hosts) {
    std::string& one = mine.emplace_back();
    if (host.failure()) {
      put(one, host.failed_at());
      one += encode(*host.failure());
    }
  }
  const std::vector<std::string> all = communicator.share(mine);
  const auto order_of = [](std::string_view one) {
    return one.empty() ? FailureOrder{.moment = UINT64_MAX} : take<FailureOrder>(one);
  };
  const auto first = std::ranges::min_element(all, {}, order_of);
  Diag diag = decode(std::string_view(*first).substr(sizeof(FailureOrder)));
  if (std::ranges::count(all, *first) != static_cast<std::ptrdiff_t>(all.size())) {
    diag.notes.push_back({.span = {},
                          .text = "on rank " + std::to_string(first - all.begin()) + " of " +
                                  std::to_string(all.size())});
  }
  return diag;
}

void check_agreement(Communicator& communicator, const Group& group, StepKind kind,
                     std::uint64_t hash) {
  const Combination lowest{.combine = Combine::kMin, .dtype = DType::kI64, .exact = true};
  const auto mine = static_cast<std::int64_t>(hash);
  const std::array<std::int64_t, 2> range{mine, ~mine};  // the lowest, and the highest inverted
  std::vector<std::array<std::int64_t, 2>> found(communicator.local_ranks().size(), range);
  std::vector<const void*> from(found.size(), range.data());
  std::vector<void*> to;
  to.reserve(found.size());
  for (std::array<std::int64_t, 2>& one : found) {
    to.push_back(one.data());
  }
  communicator.all_reduce(group, lowest, 2, from, to);
  if (found.front()[0] != mine || found.front()[1] != ~mine) {
    const std::string rank = std::to_string(communicator.local_ranks().front());
    throw std::logic_error("rank " + rank + " is at another collective than its group: " +
                           std::string(to_string(kind)));
  }
}

void tell_watched(const SpmdProgram& program, const LocalCall& call, const TensorView& x,
                  const std::function<void(const Program&, ValueId, double)>& watched) {
  if (x.shape.rank() > 0) {
    return;
  }
  with_stored(x.dtype, [&](auto number) {
    std::memcpy(&number, x.data, sizeof(number));
    watched(program.source, program.source.at(call.origin).operands.front(),
            static_cast<double>(number));
  });
}

std::string encode(const Diag& diag) {
  std::string bytes;
  put(bytes, diag.kind);
  put(bytes, diag.severity);
  put(bytes, diag.span);
  put_text(bytes, diag.text);
  put_text(bytes, diag.fix);
  put(bytes, diag.notes.size());
  for (const Note& note : diag.notes) {
    put(bytes, note.span);
    put_text(bytes, note.text);
  }
  return bytes;
}

Diag decode(std::string_view text) {
  Diag diag;
  diag.kind = take<DiagKind>(text);
  diag.severity = take<Severity>(text);
  diag.span = take<SourceSpan>(text);
  diag.text = take_text(text);
  diag.fix = take_text(text);
  for (auto notes = take<std::size_t>(text); notes > 0; --notes) {
    const auto span = take<SourceSpan>(text);
    diag.notes.push_back({.span = span, .text = take_text(text)});
  }
  return diag;
}

}  // namespace mtf

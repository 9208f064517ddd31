// Lines that lie next to each other in memory are done together, a few at a time, so that the
// state of all of them stays in registers and cache; so are some that lie apart.

#include "runtime/kernels/scan/scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "runtime/kernels/scan/scan_tile.h"
#include "runtime/kernels/thread_team.h"

namespace mtf {
namespace {

// ---- digests: the numbers of each line lie together --------------------------------------------

template <typename Way, typename N>
void read_digest(const typename Way::Type* digest, N lines,
                 ScanState<typename Way::Type, Way::kWidth, N>& state) {
  for (std::size_t i = 0; i < lines.count() * Way::kWidth; ++i) {
    state[i % Way::kWidth][i / Way::kWidth] = digest[i];
  }
}

template <typename Way, typename N>
void write_digest(const ScanState<typename Way::Type, Way::kWidth, N>& state, N lines,
                  typename Way::Type* digest) {
  for (std::size_t i = 0; i < lines.count() * Way::kWidth; ++i) {
    digest[i] = state[i % Way::kWidth][i / Way::kWidth];
  }
}

template <typename Way>
void join_lines(const Way& way, std::int64_t lines, const typename Way::Type* before,
                const typename Way::Type* behind, typename Way::Type* out) {
  ScanState<typename Way::Type, Way::kWidth, ScanLines> x;
  ScanState<typename Way::Type, Way::kWidth, ScanLines> y;
  for (std::int64_t line = 0; line < lines; line += static_cast<std::int64_t>(kScanTile)) {
    const ScanLines some{
        static_cast<std::size_t>(std::min(lines - line, static_cast<std::int64_t>(kScanTile)))};
    const std::int64_t start = line * static_cast<std::int64_t>(Way::kWidth);
    read_digest<Way>(before + start, some, x);
    read_digest<Way>(behind + start, some, y);
    way.join(x, y, some, x);
    write_digest<Way>(x, some, out + start);
  }
}

// ---- one slice ---------------------------------------------------------------------------------

// Of elements T, which are joined as the way has them.
template <typename T, typename Way>
class Scan {
 public:
  using Joined = typename Way::Type;

  Scan(const Way& way, const KernelCall& call, bool exclusive) : way_(way), call_(call) {
    const std::size_t loop = digested_loop(call.space);
    const TensorView& x = call.in.front();
    const std::size_t over = dim_of(call.space.operands.front(), loop).value();
    const LoopShare& share = call.shares[loop];
    const bool from_end = call.space.digest->from_end;
    const std::int64_t size = call.space.loops[loop].size;
    has_before_ = from_end ? share.offset + share.extent < size : share.offset > 0;
    for (std::size_t d = over + 1; d < x.shape.rank(); ++d) {
      inner_ *= x.shape[d].size;
    }
    for (std::size_t d = 0; d < over; ++d) {
      outer_ *= x.shape[d].size;
    }
    rows_.count = x.shape[over].size;
    rows_.blocks = call.blocks(loop);
    if (rows_.count % rows_.blocks != 0) {
      rows_.blocks = 1;
    }
    rows_.step = from_end ? -inner_ : inner_;
    rows_.exclusive = exclusive;
    first_ = from_end ? (rows_.count - 1) * inner_ : 0;
    if (inner_ == 1) {
      rows_.apart = rows_.count;
    }
  }

  void run() {
    if (rows_.count == 0) {
      if (call_.part == CallPart::kDigest) {
        std::ranges::fill(elements<Joined>(call_.out), Joined(0));
      }
      return;
    }
    const std::int64_t lines = outer_ * inner_;
    const int threads = threads_for(call_.host.cpu(), lines * rows_.count);
    if (2 * lines <= threads && rows_.blocks > 1) {
      return run({.begin = 0, .extent = lines}, threads);
    }
    run_in_parts(threads, lines, [this](Interval part) { run(part, 1); });
  }

 private:
  // Lines by number, the inner ones, which lie next to each other, counting fastest. `threads`:
  // of a line.
  void run(Interval lines, int threads) const {
    for (std::int64_t line = lines.begin; line < lines.end();) {
      const std::int64_t inner = line % inner_;
      const std::int64_t left =
          std::min(lines.end() - line, inner_ == 1 ? apart_at_once() : inner_ - inner);
      const std::int64_t count = lines_at_once(left);
      with_scan_lines(count, [&](auto number) { tile(line / inner_, inner, number, threads); });
      line += count;
    }
  }

  // Of lines that lie apart.
  [[nodiscard]] std::int64_t apart_at_once() const {
    if (rows_.count <= kShortScan) {
      return kScanTile;
    }
    return rows_.count <= Way::kLongest ? kApartAtOnce : 1;
  }

  // Those of a tile, of so many.
  static std::int64_t lines_at_once(std::int64_t left) {
    constexpr std::int64_t kFew = 16;
    return left < kFew ? static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(left)))
                       : std::min(left, static_cast<std::int64_t>(kScanTile));
  }

  template <typename N>
  void tile(std::int64_t outer, std::int64_t inner, N lines, int threads) const {
    const std::int64_t start = outer * rows_.count * inner_ + first_ + inner;
    const std::int64_t digest = (outer * inner_ + inner) * static_cast<std::int64_t>(Way::kWidth);
    std::array<const T*, Way::kWidth> in{};
    for (std::size_t w = 0; w < Way::kWidth; ++w) {
      in[w] = static_cast<const T*>(call_.in[w].data) + start;
    }
    const bool tells = call_.part == CallPart::kDigest;
    const bool told = call_.part == CallPart::kRest && has_before_;
    T* out = tells ? nullptr : static_cast<T*>(call_.out.data) + start;
    ScanState<Joined, Way::kWidth, N> before;
    if (told) {
      read_digest<Way>(static_cast<const Joined*>(call_.in.back().data) + digest, lines, before);
    }
    ScanState<Joined, Way::kWidth, N> all;
    const ScanTile<T, Way, N> tile(way_, rows_, in, out, lines);
    if (threads == 1) {
      tile.run(told ? &before : nullptr, all);
    } else {
      tile.run(told ? &before : nullptr, all, threads);
    }
    if (tells) {
      write_digest<Way>(all, lines, static_cast<Joined*>(call_.out.data) + digest);
    }
  }

  const Way& way_;
  const KernelCall& call_;
  ScanRows rows_;
  std::int64_t outer_ = 1;
  std::int64_t inner_ = 1;
  std::int64_t first_ = 0;  // of a line, where the scan begins
  bool has_before_ = false;
};

}  // namespace

void join_digests(const DigestJoin& how, std::int64_t lines, const void* before, const void* behind,
                  void* out) {
  with_type(how.dtype, [&](auto zero) {
    using T = decltype(zero);
    with_scan_way<T>(how.combine, how.isa, [&](const auto& way) {
      join_lines(way, lines, static_cast<const T*>(before), static_cast<const T*>(behind),
                 static_cast<T*>(out));
    });
  });
}

void scan_kernel(const KernelCall& call, bool exclusive) {
  const Combine combine = call.space.combine;
  const DType dtype = call.in.front().dtype;
  const Isa isa = call.host.cpu().isa;
  const auto run = [&]<typename T, typename Joined>(T /*element*/, Joined /*joined*/) {
    with_scan_way<Joined>(combine, isa, [&]<typename Way>(const Way& way) {
      Scan<T, Way>(way, call, exclusive).run();
    });
  };
  if (dtype != joined_dtype(combine, dtype)) {
    return run(float{}, double{});
  }
  with_type(dtype, [&](auto zero) { run(zero, zero); });
}

}  // namespace mtf

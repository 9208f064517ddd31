// Where ranks are that share cores while they are measured.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mtf {

// The system puts ranks on cores anew in each run and leaves them there for long. Neighbours on one
// core exchange in its caches, in turns; neighbours apart wait for each other's turns: that takes
// up to three times as long. Both are measured, as either may be.
class Placement {
 public:
  // Of `ranks` on this machine's cores.
  explicit Placement(std::int64_t ranks);
  ~Placement();  // leaves the thread to the system
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;
  Placement(Placement&&) = delete;
  Placement& operator=(Placement&&) = delete;

  // How many ways there are: one, the system's own, unless as many ranks share each core.
  [[nodiscard]] std::size_t ways() const { return per_core_ > 1 ? 2 : 1; }

  // Moves the calling thread, that of this rank: in way 0 neighbours are together, in way 1 apart.
  void take(std::size_t way, std::int64_t rank) const;

 private:
  std::vector<int> cores_;
  std::int64_t per_core_ = 1;
};

}  // namespace mtf

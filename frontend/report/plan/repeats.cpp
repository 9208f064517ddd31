#include "frontend/report/plan/repeats.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace mtf {
namespace {

constexpr std::size_t kLeastHidden = 4;      // items that a repetition must save
constexpr std::size_t kMostCandidates = 64;  // distances tried from one item

}  // namespace

void Repeats::add(std::size_t key, std::span<const std::size_t> names) {
  keys_.push_back(key);
  names_in_.insert(names_in_.end(), names.begin(), names.end());
  begin_.push_back(names_in_.size());
}

void Repeats::start(std::size_t names) {
  there_.resize(names);
  back_.resize(names);
  next_.assign(keys_.size(), keys_.size());
  std::unordered_map<std::size_t, std::size_t> last;
  for (std::size_t i = keys_.size(); i-- > 0;) {
    const auto [place, is_new] = last.try_emplace(keys_[i], i);
    next_[i] = is_new ? keys_.size() : std::exchange(place->second, i);
  }
}

// Whether it stands for that name; for the first time in a comparison, it then does.
bool Repeats::exchanges(Other& other, std::size_t name) const {
  if (other.comparison != comparison_) {
    other = {.comparison = comparison_, .name = name};
  }
  return other.name == name;
}

// Whether the names of so many items at one place can be exchanged for those at another. requires:
// their keys are the same.
bool Repeats::alike(std::size_t first, std::size_t second, std::size_t length) {
  ++comparison_;
  const std::size_t count = begin_[first + length] - begin_[first];
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t ours = names_in_[begin_[first] + n];
    const std::size_t theirs = names_in_[begin_[second] + n];
    if (!exchanges(there_[ours], theirs) || !exchanges(back_[theirs], ours)) {
      return false;
    }
  }
  return true;
}

Repeat Repeats::repeat_of(std::size_t begin, std::size_t end, std::size_t length) {
  Repeat repeat{.length = length};
  for (std::size_t at = begin; at + 2 * length <= end; at += length, ++repeat.times) {
    const auto ours = keys_.begin() + static_cast<std::ptrdiff_t>(at);
    const auto theirs = ours + static_cast<std::ptrdiff_t>(length);
    if (!std::equal(ours, theirs, theirs)) {
      break;
    }
    if (!alike(at, at + length, length)) {
      repeat.ends_by_names = true;
      break;
    }
  }
  return repeat;
}

// Where one ends as the keys end to repeat, or all items, those of blocks of several of its blocks
// end no later, and hide less.
Repeat Repeats::at(std::size_t begin, std::size_t end) {
  Repeat best;
  std::size_t tried = 0;
  for (std::size_t other = next_[begin]; other < end && tried < kMostCandidates;
       other = next_[other], ++tried) {
    const std::size_t length = other - begin;
    if (!best.ends_by_names && length <= best.hidden() && length % best.length == 0) {
      continue;
    }
    const Repeat repeat = repeat_of(begin, end, length);
    if (repeat.hidden() >= kLeastHidden && repeat.hidden() > best.hidden()) {
      best = repeat;
    }
  }
  return best;
}

}  // namespace mtf

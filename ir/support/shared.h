// A value that is never changed, so that copies of it are one.

#pragma once

#include <memory>
#include <utility>

namespace mtf {

template <typename T>
class Shared {
 public:
  Shared() : shared_(none()) {}
  // NOLINTNEXTLINE(google-explicit-constructor): it is the thing
  Shared(T thing) : shared_(std::make_shared<const T>(std::move(thing))) {}

  [[nodiscard]] const T& operator*() const { return *shared_; }
  const T* operator->() const { return shared_.get(); }
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator const T&() const { return *shared_; }

  friend bool operator==(const Shared& a, const Shared& b) {
    return a.shared_ == b.shared_ || *a == *b;
  }
  friend bool operator==(const Shared& a, const T& b) { return *a == b; }

 private:
  static const std::shared_ptr<const T>& none() {
    static const auto none = std::make_shared<const T>();
    return none;
  }

  std::shared_ptr<const T> shared_;
};

}  // namespace mtf

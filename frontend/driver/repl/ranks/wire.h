// Values as bytes, between processes of one machine and one executable.
//
// Of a structure, every member in its order: `kMembers` says how many there are, and one more or
// less does not compile.

#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace mtf::wire {

template <typename T>
inline constexpr int kMembers = 0;

// What is done with each member.
template <typename T, typename F>
void for_members(T& value, F&& f) {
  constexpr int kCount = kMembers<std::remove_const_t<T>>;
  static_assert(kCount > 0, "this type has no form as bytes");
  const auto each = [&f](auto&... members) { (f(members), ...); };
  // clang-format off
  if constexpr (kCount == 1) { auto& [a] = value; each(a); }
  if constexpr (kCount == 2) { auto& [a, b] = value; each(a, b); }
  if constexpr (kCount == 3) { auto& [a, b, c] = value; each(a, b, c); }
  if constexpr (kCount == 4) { auto& [a, b, c, d] = value; each(a, b, c, d); }
  if constexpr (kCount == 5) { auto& [a, b, c, d, e] = value; each(a, b, c, d, e); }
  if constexpr (kCount == 6) { auto& [a, b, c, d, e, g] = value; each(a, b, c, d, e, g); }
  if constexpr (kCount == 7) { auto& [a, b, c, d, e, g, h] = value; each(a, b, c, d, e, g, h); }
  if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, g, h, i] = value; each(a, b, c, d, e, g, h, i);
  }
  if constexpr (kCount == 10) {
    auto& [a, b, c, d, e, g, h, i, j, k] = value; each(a, b, c, d, e, g, h, i, j, k);
  }
  if constexpr (kCount == 11) {
    auto& [a, b, c, d, e, g, h, i, j, k, l] = value; each(a, b, c, d, e, g, h, i, j, k, l);
  }
  if constexpr (kCount == 12) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m] = value; each(a, b, c, d, e, g, h, i, j, k, l, m);
  }
  if constexpr (kCount == 13) {
    auto& [a, b, c, d, e, g, h, i, j, k, l, m, n] = value;
    each(a, b, c, d, e, g, h, i, j, k, l, m, n);
  }
  // clang-format on
}

template <typename T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Writer {
 public:
  template <typename T>
  void put(const T& value) {
    for_members(value, [this](const auto& member) { this->put(member); });
  }
  template <Plain T>
  void put(const T& value) {
    bytes(&value, sizeof(value));
  }
  void put(std::string_view text) {
    put(text.size());
    bytes(text.data(), text.size());
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(std::monostate /*none*/) {}
  template <typename T>
  void put(const std::vector<T>& list) {
    put(list.size());
    if constexpr (Plain<T> || std::same_as<T, std::byte>) {
      bytes(list.data(), list.size() * sizeof(T));
    } else {
      for (const T& item : list) {
        put(item);
      }
    }
  }
  template <typename T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) {
      put(*value);
    }
  }
  template <typename A, typename B>
  void put(const std::pair<A, B>& value) {
    put(value.first);
    put(value.second);
  }
  template <typename K, typename V, typename C>
  void put(const std::map<K, V, C>& map) {
    put(map.size());
    for (const auto& [key, value] : map) {
      put(key);
      put(value);
    }
  }
  template <typename... T>
  void put(const std::variant<T...>& value) {
    put(value.index());
    std::visit([this](const auto& held) { this->put(held); }, value);
  }

  [[nodiscard]] std::string take() { return std::exchange(text_, std::string()); }

 private:
  void bytes(const void* data, std::size_t count) {
    text_.append(static_cast<const char*>(data), count);
  }

  std::string text_;
};

// requires: bytes that a `Writer` of this executable made; too few are an exception.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  template <typename T>
  [[nodiscard]] T take() {
    T value{};
    get(value);
    return value;
  }

  template <typename T>
  void get(T& value) {
    for_members(value, [this](auto& member) { this->get(member); });
  }
  template <Plain T>
  void get(T& value) {
    std::memcpy(&value, bytes(sizeof(value)), sizeof(value));
  }
  void get(std::string& text) {
    const auto size = take<std::size_t>();
    text.assign(bytes(size), size);
  }
  void get(std::monostate& /*none*/) {}
  template <typename T>
  void get(std::vector<T>& list) {
    const auto size = take<std::size_t>();
    if constexpr (Plain<T> || std::same_as<T, std::byte>) {
      const char* data = bytes(size * sizeof(T));
      list.resize(size);
      if (size > 0) {
        std::memcpy(list.data(), data, size * sizeof(T));
      }
    } else {
      for (std::size_t i = 0; i < size; ++i) {
        get(list.emplace_back());
      }
    }
  }
  template <typename T>
  void get(std::optional<T>& value) {
    if (take<bool>()) {
      get(value.emplace());
    }
  }
  template <typename A, typename B>
  void get(std::pair<A, B>& value) {
    get(value.first);
    get(value.second);
  }
  template <typename K, typename V, typename C>
  void get(std::map<K, V, C>& map) {
    for (auto left = take<std::size_t>(); left > 0; --left) {
      K key = take<K>();
      get(map[std::move(key)]);
    }
  }
  template <typename... T>
  void get(std::variant<T...>& value) {
    const auto index = take<std::size_t>();
    std::size_t next = 0;
    const auto choose = [&]<typename One>(std::in_place_type_t<One>) {
      if (next++ == index) {
        get(value.template emplace<One>());
      }
    };
    (choose(std::in_place_type<T>), ...);
  }

 private:
  const char* bytes(std::size_t count) {
    if (count > rest_.size()) {
      throw std::runtime_error("a message between the ranks of a session is cut off");
    }
    const char* begin = rest_.data();
    rest_.remove_prefix(count);
    return begin;
  }

  std::string_view rest_;
};

}  // namespace mtf::wire

// Lines become numbers, the same where they differ in names alone; a repetition is looked for from
// each line, at the distances of the next lines with its number.

#include "frontend/report/plan/fold.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace mtf {
namespace {

constexpr std::size_t kLeastHidden = 4;      // lines that a fold must save
constexpr std::size_t kMostCandidates = 64;  // distances tried from one line
constexpr std::size_t kMostLabels = 2;

bool is_digit(char letter) {
  return std::isdigit(static_cast<unsigned char>(letter)) != 0;
}

bool is_of_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '%' ||
         letter == '.' || letter == '/' || static_cast<unsigned char>(letter) >= 0x80;
}

// "layer_#/w" of "layer_12/w", "centred" of "centred.2".
std::string without_numbers(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot != std::string_view::npos &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1, name.end(), is_digit)) {
    name = name.substr(0, dot);
  }
  std::string text;
  for (const char letter : name) {
    if (!is_digit(letter)) {
      text += letter;
    } else if (!text.ends_with('#')) {
      text += '#';
    }
  }
  return text;
}

// The words of a text: names, and others.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_of_word(text[end])) {
      ++end;
    }
    end = std::max(end, i + 1);
    words.push_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

// Up to the end of the number in which a name differs from another: "layer_0" of "layer_0/w".
std::string_view label_of(std::string_view name, std::string_view other) {
  const auto differs = std::ranges::mismatch(name, other).in1;
  auto end = differs;
  while (end != name.end() && is_digit(*end)) {
    ++end;
  }
  const bool in_number = end != name.begin() && is_digit(*std::prev(end));
  return in_number ? std::string_view(name.begin(), end) : std::string_view();
}

class Folder {
 public:
  Folder(std::span<const PlanLine> lines, std::span<const PlanLine> plan) {
    for (const PlanLine& line : plan) {
      names_.insert(line.name);
      if (line.kind == LineKind::kInput) {
        inputs_.insert(line.name);
      }
    }
    std::unordered_map<std::string, std::size_t> numbers;
    for (const PlanLine& line : lines) {
      names_in_.emplace_back();
      keys_.push_back(numbers.try_emplace(key(line), numbers.size()).first->second);
    }
    next_.assign(lines.size(), lines.size());
    std::unordered_map<std::size_t, std::size_t> last;
    for (std::size_t i = lines.size(); i-- > 0;) {
      const auto [place, is_new] = last.try_emplace(keys_[i], i);
      next_[i] = is_new ? lines.size() : std::exchange(place->second, i);
    }
  }

  std::vector<PlanPart> parts(std::size_t begin, std::size_t end) {
    std::vector<PlanPart> result;
    while (begin < end) {
      const Repeat repeat = repeat_at(begin, end);
      if (repeat.times == 1) {
        result.push_back({.begin = begin, .end = begin + 1, .times = 1, .names = {}, .parts = {}});
        ++begin;
        continue;
      }
      const std::size_t first_end = begin + repeat.length;
      result.push_back({.begin = begin,
                        .end = first_end,
                        .times = repeat.times,
                        .names = labels(begin, repeat),
                        .parts = parts(begin, first_end)});
      begin += repeat.length * static_cast<std::size_t>(repeat.times);
    }
    return result;
  }

 private:
  struct Repeat {
    std::size_t length = 0;
    std::int64_t times = 1;
    [[nodiscard]] std::size_t hidden() const {
      return length * static_cast<std::size_t>(times - 1);
    }
  };

  // What a line says but for the names of values, which are put into `names_in_`.
  std::string key(const PlanLine& line) {
    std::string text = std::to_string(static_cast<int>(line.kind)) + "\n" +
                       without_numbers(line.name) + "\n" + line.type + "\n" + line.partial + "\n" +
                       line.amount + "\n";
    names_in_.back().push_back(line.name);
    if (line.kind == LineKind::kInput) {
      return text + without_numbers(line.op) + "\n" + line.why;
    }
    if (line.kind == LineKind::kStep && line.op.find(" <- ") != std::string::npos) {
      return text + line.op;  // what a loop hands on is told of each
    }
    for (const std::string_view word : words_of(line.op)) {
      const bool is_name = names_.contains(std::string(word));
      text += is_name ? "\1" : word;
      if (is_name) {
        names_in_.back().emplace_back(word);
      }
    }
    return text + "\n" + without_places(line.why);
  }

  // Layers may be written one below the other: "(net.mtf:20)" is "(net.mtf:#)".
  static std::string without_places(const std::string& why) {
    std::string text;
    for (std::size_t i = 0; i < why.size(); ++i) {
      const bool in_place = is_digit(why[i]) && !text.empty() && text.ends_with(':');
      if (!in_place) {
        text += why[i];
        continue;
      }
      while (i + 1 < why.size() && is_digit(why[i + 1])) {
        ++i;
      }
      text += '#';
    }
    return text;
  }

  // Whether the names of so many lines at one place can be exchanged for those at another.
  [[nodiscard]] bool alike(std::size_t first, std::size_t second, std::size_t length) const {
    std::unordered_map<std::string_view, std::string_view> there;
    std::unordered_map<std::string_view, std::string_view> back;
    for (std::size_t i = 0; i < length; ++i) {
      const std::vector<std::string>& ours = names_in_[first + i];
      const std::vector<std::string>& theirs = names_in_[second + i];
      for (std::size_t n = 0; n < ours.size(); ++n) {
        if (there.try_emplace(ours[n], theirs[n]).first->second != theirs[n] ||
            back.try_emplace(theirs[n], ours[n]).first->second != ours[n]) {
          return false;
        }
      }
    }
    return true;
  }

  [[nodiscard]] std::int64_t times(std::size_t begin, std::size_t end, std::size_t length) const {
    std::int64_t count = 1;
    for (std::size_t at = begin; at + 2 * length <= end; at += length, ++count) {
      const auto ours = keys_.begin() + static_cast<std::ptrdiff_t>(at);
      const auto theirs = ours + static_cast<std::ptrdiff_t>(length);
      if (!std::equal(ours, theirs, theirs) || !alike(at, at + length, length)) {
        break;
      }
    }
    return count;
  }

  // The repetition from a line on that hides most.
  [[nodiscard]] Repeat repeat_at(std::size_t begin, std::size_t end) const {
    Repeat best;
    std::size_t tried = 0;
    for (std::size_t other = next_[begin]; other < end && tried < kMostCandidates;
         other = next_[other], ++tried) {
      const std::size_t length = other - begin;
      const Repeat repeat = {.length = length, .times = times(begin, end, length)};
      if (repeat.hidden() >= kLeastHidden && repeat.hidden() > best.hidden()) {
        best = repeat;
      }
    }
    return best;
  }

  // Of the variables and arguments that the block names, and its repetitions have others for.
  [[nodiscard]] std::string labels(std::size_t begin, const Repeat& repeat) const {
    const std::size_t last = begin + repeat.hidden();
    std::vector<std::string> texts;
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < repeat.length; ++i) {
      for (std::size_t n = 0; n < names_in_[begin + i].size(); ++n) {
        const std::string& name = names_in_[begin + i][n];
        const std::string& second = names_in_[begin + repeat.length + i][n];
        const std::string& end = names_in_[last + i][n];
        const std::string_view label = label_of(name, second);
        if (!inputs_.contains(name) || name == second || label.empty() ||
            !seen.insert(label).second) {
          continue;
        }
        const std::string as = std::string(label_of(second, name));
        texts.push_back(as + (repeat.times == 2 ? "" : " … " + std::string(label_of(end, name))) +
                        " as " + std::string(label));
      }
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(texts.size(), kMostLabels); ++i) {
      text += (i == 0 ? "" : ", ") + texts[i];
    }
    return text + (texts.size() > kMostLabels ? ", …" : "");
  }

  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> inputs_;
  std::vector<std::vector<std::string>> names_in_;  // of each line its own, then those it reads
  std::vector<std::size_t> keys_;
  std::vector<std::size_t> next_;  // the next line with the same key, or behind them all
};

}  // namespace

std::vector<PlanPart> folded(std::span<const PlanLine> lines, std::span<const PlanLine> plan) {
  return Folder(lines, plan).parts(0, lines.size());
}

}  // namespace mtf

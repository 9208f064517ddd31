// Lines become numbers, the same where they differ in names alone; a repetition is looked for from
// each line, at the distances of the next lines with its number.

#include "frontend/report/plan/fold.h"

#include <algorithm>
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
  return letter >= '0' && letter <= '9';
}

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

bool is_of_word(char letter) {
  return is_letter(letter) || is_digit(letter) || letter == '_' || letter == '%' || letter == '.' ||
         letter == '/' || static_cast<unsigned char>(letter) >= 0x80;
}

// "layer_#/w" of "layer_12/w", "centred" of "centred.2".
void add_without_numbers(std::string_view name, std::string& text) {
  const std::size_t dot = name.rfind('.');
  if (dot != std::string_view::npos &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1, name.end(), is_digit)) {
    name = name.substr(0, dot);
  }
  bool in_number = false;
  for (const char letter : name) {
    if (!is_digit(letter)) {
      text += letter;
    } else if (!in_number) {
      text += '#';
    }
    in_number = is_digit(letter) || letter == '#';
  }
}

// Layers may be written one below the other: "(net.mtf:20)" is "(net.mtf:#)".
void add_without_places(std::string_view why, std::string& text) {
  while (!why.empty()) {
    const std::size_t place = std::min(why.find(':'), why.size() - 1);
    text += why.substr(0, place + 1);
    why.remove_prefix(place + 1);
    if (text.ends_with(':') && !why.empty() && is_digit(why.front())) {
      text += '#';
      why.remove_prefix(std::min(why.find_first_not_of("0123456789"), why.size()));
    }
  }
}

// Goes through the words of a text: names, and others.
template <typename F>
void for_each_word(std::string_view text, F body) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_of_word(text[end])) {
      ++end;
    }
    end = std::max(end, i + 1);
    body(text.substr(i, end - i));
    i = end;
  }
}

// Up to the end of the number in which a name differs from another: "layer_0" of "layer_0/w".
std::string_view label_of(std::string_view name, std::string_view other) {
  auto end = static_cast<std::size_t>(std::ranges::mismatch(name, other).in1 - name.begin());
  while (end < name.size() && is_digit(name[end])) {
    ++end;
  }
  return end > 0 && is_digit(name[end - 1]) ? name.substr(0, end) : std::string_view();
}

class Folder {
 public:
  Folder(std::span<const PlanLine> lines, std::span<const PlanLine> plan) {
    for (const PlanLine& line : plan) {
      const std::size_t name = numbers_.try_emplace(line.name, names_.size()).first->second;
      if (name == names_.size()) {
        names_.push_back({.text = line.name});
      }
      names_[name].is_input = names_[name].is_input || line.kind == LineKind::kInput;
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
    bool ends_by_names = false;  // there are more lines with the keys, of other names
    [[nodiscard]] std::size_t hidden() const {
      return length * static_cast<std::size_t>(times - 1);
    }
  };

  // What a line says but for the names of values, which are put into `names_in_`.
  std::string key(const PlanLine& line) {
    std::string text;
    text.reserve(line.name.size() + line.type.size() + line.partial.size() + line.amount.size() +
                 line.op.size() + line.why.size() + 8);
    text += static_cast<char>('0' + static_cast<int>(line.kind));
    text += '\n';
    add_without_numbers(line.name, text);
    for (const std::string* part : {&line.type, &line.partial, &line.amount}) {
      text += '\n';
      text += *part;
    }
    text += '\n';
    names_in_.back().push_back(numbers_.at(line.name));
    if (line.kind == LineKind::kInput) {
      add_without_numbers(line.op, text);
      return text + "\n" + line.why;
    }
    if (line.kind == LineKind::kStep && line.op.find(" <- ") != std::string::npos) {
      return text + line.op;  // what a loop hands on is told of each
    }
    for_each_word(line.op, [&](std::string_view word) {
      const bool may_be_name = word.size() > 1 || is_of_word(word.front());
      const auto name = may_be_name ? numbers_.find(word) : numbers_.end();
      if (name == numbers_.end()) {
        text += word;
      } else {
        text += '\1';
        names_in_.back().push_back(name->second);
      }
    });
    text += '\n';
    add_without_places(line.why, text);
    return text;
  }

  // Whether the names of so many lines at one place can be exchanged for those at another.
  [[nodiscard]] bool alike(std::size_t first, std::size_t second, std::size_t length) {
    ++comparison_;
    for (std::size_t i = 0; i < length; ++i) {
      const std::vector<std::size_t>& ours = names_in_[first + i];
      const std::vector<std::size_t>& theirs = names_in_[second + i];
      for (std::size_t n = 0; n < ours.size(); ++n) {
        if (!exchanges(names_[ours[n]].there, theirs[n]) ||
            !exchanges(names_[theirs[n]].back, ours[n])) {
          return false;
        }
      }
    }
    return true;
  }

  [[nodiscard]] Repeat repeat_of(std::size_t begin, std::size_t end, std::size_t length) {
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

  // The repetition from a line on that hides most. Where one ends as the keys end to repeat, or all
  // lines, those of blocks of several of its blocks end no later, and hide less.
  [[nodiscard]] Repeat repeat_at(std::size_t begin, std::size_t end) {
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

  // Of the variables and arguments that the block names, and its repetitions have others for.
  [[nodiscard]] std::string labels(std::size_t begin, const Repeat& repeat) const {
    const std::size_t last = begin + repeat.hidden();
    std::vector<std::string> texts;
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < repeat.length; ++i) {
      for (std::size_t n = 0; n < names_in_[begin + i].size(); ++n) {
        const Name& name = names_[names_in_[begin + i][n]];
        const std::string_view second = names_[names_in_[begin + repeat.length + i][n]].text;
        const std::string_view end = names_[names_in_[last + i][n]].text;
        const std::string_view label = label_of(name.text, second);
        if (!name.is_input || name.text == second || label.empty() || !seen.insert(label).second) {
          continue;
        }
        const std::string as = std::string(label_of(second, name.text));
        texts.push_back(as +
                        (repeat.times == 2 ? "" : " … " + std::string(label_of(end, name.text))) +
                        " as " + std::string(label));
      }
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(texts.size(), kMostLabels); ++i) {
      text += (i == 0 ? "" : ", ") + texts[i];
    }
    return text + (texts.size() > kMostLabels ? ", …" : "");
  }

  // The name that stands for another in a comparison.
  struct Other {
    std::size_t comparison = 0;
    std::size_t name = 0;
  };
  struct Name {
    std::string_view text;
    bool is_input = false;
    Other there = {};
    Other back = {};
  };

  // Whether it stands for that name; for the first time in a comparison, it then does.
  [[nodiscard]] bool exchanges(Other& other, std::size_t name) const {
    if (other.comparison != comparison_) {
      other = {.comparison = comparison_, .name = name};
    }
    return other.name == name;
  }

  std::unordered_map<std::string_view, std::size_t> numbers_;
  std::vector<Name> names_;
  std::vector<std::vector<std::size_t>> names_in_;  // of each line its own, then those it reads
  std::vector<std::size_t> keys_;
  std::vector<std::size_t> next_;  // the next line with the same key, or behind them all
  std::size_t comparison_ = 0;
};

}  // namespace

std::vector<PlanPart> folded(std::span<const PlanLine> lines, std::span<const PlanLine> plan) {
  return Folder(lines, plan).parts(0, lines.size());
}

}  // namespace mtf

// Lines become numbers, the same where they differ in names alone, and those are looked through for
// repetitions.

#include "frontend/report/plan/fold.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "frontend/report/plan/repeats.h"

namespace mtf {
namespace {

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

// What comes before the position of an element that is taken out, as of each turn of a loop that is
// written out: it may count on from one repetition to the next.
constexpr std::string_view kPosition = "at = ";

std::int64_t position_of(std::string_view name) {
  std::int64_t position = 0;
  std::from_chars(name.data() + kPosition.size(), name.data() + name.size(), position);
  return position;
}

class Folder {
 public:
  Folder(std::span<const PlanLine> lines, std::span<const PlanName> names,
         std::span<const PlanCut> cuts) {
    for (const PlanName& name : names) {
      const std::size_t number = numbers_.try_emplace(name.text, names_.size()).first->second;
      if (number == names_.size()) {
        names_.push_back({.text = name.text});
      }
      names_[number].is_input = names_[number].is_input || name.is_input;
    }
    std::unordered_map<std::string, std::size_t> numbers;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      names_of_line_.clear();
      const std::size_t number = numbers.try_emplace(key(lines[i]), numbers.size()).first->second;
      join_cuts(i, cuts);
      repeats_.add(number, names_of_line_);
    }
    repeats_.start(names_.size());
  }

  std::vector<PlanPart> parts(std::size_t begin, std::size_t end) {
    std::vector<PlanPart> result;
    while (begin < end) {
      const Repeat repeat = evenly(begin, repeats_.at(begin, end));
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
  // As often as positions go on by the same number.
  [[nodiscard]] Repeat evenly(std::size_t begin, Repeat repeat) const {
    for (std::size_t i = 0; i < repeat.length; ++i) {
      const std::size_t item = begin + i;
      for (std::size_t n = 0; n < repeats_.names_in(item).size(); ++n) {
        const auto at = [&](std::int64_t time) {
          return names_[repeats_.names_in(item + repeat.length * static_cast<std::size_t>(time))[n]]
              .text;
        };
        std::int64_t time = at(0).starts_with(kPosition) ? 2 : repeat.times;
        while (time < repeat.times && position_of(at(time)) - position_of(at(time - 1)) ==
                                          position_of(at(1)) - position_of(at(0))) {
          ++time;
        }
        repeat.times = std::min(repeat.times, time);
      }
    }
    return repeat;
  }

  // Reads as if nothing were cut out before the line.
  void join_cuts(std::size_t line, std::span<const PlanCut> cuts) {
    for (; next_cut_ < cuts.size() && cuts[next_cut_].at <= line; ++next_cut_) {
      others_.clear();
      until_ = cuts[next_cut_].until;
      for (const auto& [name, other] : cuts[next_cut_].stands_for) {
        const auto read = numbers_.find(name);
        const auto made = numbers_.find(other);
        if (read != numbers_.end() && made != numbers_.end()) {
          others_.try_emplace(read->second, made->second);
        }
      }
    }
    if (line >= until_) {
      return;
    }
    for (std::size_t& name : names_of_line_) {
      const auto other = others_.find(name);
      name = other == others_.end() ? name : other->second;
    }
  }

  // What a line says but for the names of values, which are put into `names_of_line_`.
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
    names_of_line_.push_back(numbers_.at(line.name));
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
      if (text.ends_with(kPosition) && std::ranges::all_of(word, is_digit)) {
        text += '\1';
        names_of_line_.push_back(number_of_position(word));
      } else if (name == numbers_.end()) {
        text += word;
      } else {
        text += '\1';
        names_of_line_.push_back(name->second);
      }
    });
    text += '\n';
    add_without_places(line.why, text);
    return text;
  }

  std::size_t number_of_position(std::string_view digits) {
    std::string text = std::string(kPosition) + std::string(digits);
    if (const auto found = numbers_.find(text); found != numbers_.end()) {
      return found->second;
    }
    positions_.push_back(std::move(text));
    numbers_.emplace(positions_.back(), names_.size());
    names_.push_back({.text = positions_.back(), .is_input = true});
    return names_.size() - 1;
  }

  // Of the variables, arguments and positions that the block names, and its repetitions have others
  // for.
  [[nodiscard]] std::string labels(std::size_t begin, const Repeat& repeat) const {
    const std::size_t last = begin + repeat.hidden();
    std::vector<std::string> texts;
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < repeat.length; ++i) {
      const std::span<const std::size_t> first = repeats_.names_in(begin + i);
      for (std::size_t n = 0; n < first.size(); ++n) {
        const PlanName& name = names_[first[n]];
        const std::string_view second =
            names_[repeats_.names_in(begin + repeat.length + i)[n]].text;
        const std::string_view end = names_[repeats_.names_in(last + i)[n]].text;
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

  std::unordered_map<std::string_view, std::size_t> numbers_;
  std::vector<PlanName> names_;
  std::deque<std::string> positions_;       // that are names
  std::vector<std::size_t> names_of_line_;  // its own, then those it reads
  Repeats repeats_;                         // of lines
  std::size_t next_cut_ = 0;
  std::size_t until_ = 0;  // of the cut before it
  std::unordered_map<std::size_t, std::size_t> others_;
};

}  // namespace

std::vector<PlanPart> folded(std::span<const PlanLine> lines, std::span<const PlanName> names,
                             std::span<const PlanCut> cuts) {
  return Folder(lines, names, cuts).parts(0, lines.size());
}

bool add_cuts(std::span<const PlanCut> cuts, std::vector<PlanPart>& parts) {
  std::vector<std::int64_t> added(parts.size(), 0);
  for (const PlanCut& cut : cuts) {
    if (cut.lines == 0) {  // what it leaves out is in no text
      continue;
    }
    const auto block = std::ranges::find_if(parts, [&cut](const PlanPart& part) {
      const std::size_t length = part.end - part.begin;
      return part.times > 1 && part.end <= cut.at && cut.lines % length == 0 &&
             cut.at < part.begin + length * static_cast<std::size_t>(part.times);
    });
    if (block == parts.end()) {
      return false;
    }
    added[static_cast<std::size_t>(block - parts.begin())] +=
        static_cast<std::int64_t>(cut.lines / (block->end - block->begin));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].times += added[i];
  }
  return true;
}

std::string stem_of(std::string_view name) {
  std::string text;
  add_without_numbers(name, text);
  return text;
}

std::vector<PlanName> names_in(std::span<const PlanLine> plan) {
  std::vector<PlanName> names;
  names.reserve(plan.size());
  for (const PlanLine& line : plan) {
    names.push_back({.text = line.name, .is_input = line.kind == LineKind::kInput});
  }
  return names;
}

}  // namespace mtf

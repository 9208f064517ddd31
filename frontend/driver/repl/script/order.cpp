#include "frontend/driver/repl/script/order.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace mtf {
namespace {

class Order {
 public:
  Order(std::vector<Statement> inputs, const SourceMap& sources) : inputs_(std::move(inputs)) {
    std::map<std::string, std::size_t, std::less<>> declared;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      for (const std::string& name : inputs_[i].names) {
        declared.emplace(name, i);
      }
    }
    for (const Statement& input : inputs_) {
      std::set<std::size_t> named;
      for (const std::string& word : words_of(text_at(sources, input.span))) {
        const auto found = declared.find(word);
        if (found != declared.end()) {
          named.insert(found->second);
        }
      }
      named_.push_back(std::move(named));
    }
    is_taken_.resize(inputs_.size());
  }

  std::vector<Together> run() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (is_function(i)) {
        waiting_.push_back(i);
      } else {
        if (computes(inputs_[i].kind)) {
          take_functions_for(i);
        }
        if (!is_taken_[i]) {
          take(of_same_statement(i));
        }
      }
      take_ready(i);
    }
    for (const std::size_t i : waiting_) {
      static_cast<void>(take_with_needs(i));
    }
    return std::move(result_);
  }

 private:
  // Whether it can be taken, given what the predicate says of what it names and is not taken yet;
  // functions that need each other do not stand in each other's way.
  template <typename May>
  [[nodiscard]] bool may_follow(std::size_t i, std::set<std::size_t>& seen, const May& may) const {
    return std::ranges::all_of(named_[i], [&](std::size_t other) {
      return is_taken_[other] || !seen.insert(other).second ||
             (may(other) && may_follow(other, seen, may));
    });
  }

  [[nodiscard]] bool is_function(std::size_t i) const {
    return inputs_[i].kind == StatementKind::kFunction;
  }
  // What may come earlier than it stands.
  [[nodiscard]] bool only_declares(std::size_t i) const {
    return is_function(i) || inputs_[i].kind == StatementKind::kDim ||
           inputs_[i].kind == StatementKind::kImport;
  }

  // Of the dims of one statement, those that nothing has needed before.
  [[nodiscard]] std::vector<std::size_t> of_same_statement(std::size_t i) const {
    std::vector<std::size_t> places;
    for (std::size_t other = i;
         other < inputs_.size() && inputs_[other].statement == inputs_[i].statement; ++other) {
      if (!is_taken_[other]) {
        places.push_back(other);
      }
    }
    return places;
  }

  void take(std::vector<std::size_t> places) {
    std::ranges::sort(places);
    Together together;
    for (const std::size_t i : places) {
      is_taken_[i] = true;
      together.push_back(inputs_[i]);
    }
    result_.push_back(std::move(together));
  }

  // With those of its needs that may come earlier, and together with those that need it, too:
  // Tarjan's strongly connected components. How many were entered before the first that it needs
  // and that is not taken yet.
  std::size_t take_with_needs(std::size_t i) {
    if (is_taken_[i]) {
      return inputs_.size();
    }
    const auto entered = std::ranges::find(entered_, i);
    const auto place = static_cast<std::size_t>(entered - entered_.begin());
    if (entered != entered_.end()) {
      return place;
    }
    entered_.push_back(i);
    std::size_t first = place;
    for (const std::size_t other : named_[i]) {
      if (only_declares(other)) {
        first = std::min(first, take_with_needs(other));
      }
    }
    if (first == place) {
      const auto own = entered_.begin() + static_cast<std::ptrdiff_t>(place);
      take({own, entered_.end()});
      entered_.erase(own, entered_.end());
    }
    return first;
  }

  // A name may also stand in a text: what needs more than declarations goes on waiting.
  void take_functions_for(std::size_t i) {
    for (const std::size_t other : named_[i]) {
      std::set<std::size_t> seen{other};
      const auto may = [this](std::size_t need) { return only_declares(need); };
      if (is_function(other) && may_follow(other, seen, may)) {
        static_cast<void>(take_with_needs(other));
      }
    }
  }

  // What stands at `place` or above it, and needs nothing from below.
  void take_ready(std::size_t place) {
    for (const std::size_t i : std::exchange(waiting_, {})) {
      std::set<std::size_t> seen{i};
      const auto may = [&](std::size_t need) { return is_function(need) && need <= place; };
      if (may_follow(i, seen, may)) {
        static_cast<void>(take_with_needs(i));
      } else if (!is_taken_[i]) {
        waiting_.push_back(i);
      }
    }
  }

  std::vector<Statement> inputs_;
  std::vector<std::set<std::size_t>> named_;  // by each, as statements that declare the names
  std::vector<bool> is_taken_;
  std::vector<std::size_t> entered_;  // and not taken yet
  std::vector<std::size_t> waiting_;  // functions
  std::vector<Together> result_;
};

}  // namespace

std::set<std::string, std::less<>> words_of(std::string_view text) {
  std::set<std::string, std::less<>> words;
  std::string word;
  for (const char letter : std::string(text) + " ") {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 || letter == '_' || byte >= 0x80) {
      word += letter;
    } else if (!word.empty()) {
      words.insert(std::exchange(word, std::string()));
    }
  }
  return words;
}

std::vector<Together> in_order(const ast::File& tree, const SourceMap& sources) {
  return Order(Script::inputs_of(tree), sources).run();
}

}  // namespace mtf

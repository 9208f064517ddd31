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

  std::vector<Statement> run() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (is_function(i)) {
        waiting_.push_back(i);
      } else {
        if (computes(inputs_[i].kind)) {
          take_functions_for(i);
        }
        take(i);
      }
      take_ready(i);
    }
    for (const std::size_t i : waiting_) {
      take_with_needs(i);
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

  void take(std::size_t i) {
    if (!is_taken_[i]) {
      is_taken_[i] = true;
      result_.push_back(inputs_[i]);
    }
  }

  // With those of its needs that may come earlier.
  void take_with_needs(std::size_t i) {
    if (is_taken_[i] || !is_entered_.insert(i).second) {
      return;  // or two that need each other
    }
    for (const std::size_t other : named_[i]) {
      if (only_declares(other)) {
        take_with_needs(other);
      }
    }
    take(i);
  }

  // A name may also stand in a text: what needs more than declarations goes on waiting.
  void take_functions_for(std::size_t i) {
    for (const std::size_t other : named_[i]) {
      std::set<std::size_t> seen{other};
      const auto may = [this](std::size_t need) { return only_declares(need); };
      if (is_function(other) && may_follow(other, seen, may)) {
        take_with_needs(other);
      }
    }
  }

  // What stands at `place` or above it, and needs nothing from below.
  void take_ready(std::size_t place) {
    for (const std::size_t i : std::exchange(waiting_, {})) {
      std::set<std::size_t> seen{i};
      const auto may = [&](std::size_t need) { return is_function(need) && need <= place; };
      if (may_follow(i, seen, may)) {
        take_with_needs(i);
      } else if (!is_taken_[i]) {
        waiting_.push_back(i);
      }
    }
  }

  std::vector<Statement> inputs_;
  std::vector<std::set<std::size_t>> named_;  // by each, as statements that declare the names
  std::vector<bool> is_taken_;
  std::set<std::size_t> is_entered_;
  std::vector<std::size_t> waiting_;  // functions
  std::vector<Statement> result_;
};

// An `auto` layout is searched for the functions that there are: it, and what is in use, wait for
// those that a text declares before it computes anything.
std::vector<Statement> behind_functions(std::vector<Statement> inputs, const ast::File& tree) {
  const auto is_auto = [&tree](const Statement& input) {
    const auto* layout = std::get_if<ast::Layout>(&tree.statements[input.statement].node);
    return layout != nullptr && layout->automatic.has_value();
  };
  const auto first = std::ranges::find_if(inputs, is_auto);
  const auto last = std::find_if(first, inputs.end(),
                                 [](const Statement& input) { return computes(input.kind); });
  std::stable_partition(first, last, [&](const Statement& input) {
    return input.kind != StatementKind::kUse && !is_auto(input);
  });
  return inputs;
}

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

std::vector<Statement> in_order(const ast::File& tree, const SourceMap& sources) {
  return behind_functions(Order(Script::inputs_of(tree), sources).run(), tree);
}

}  // namespace mtf

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
        take_named(i, /*declared_below=*/false);
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
  [[nodiscard]] bool is_function(std::size_t i) const {
    return inputs_[i].kind == StatementKind::kFunction;
  }

  // What computes nothing, so that its place changes nothing.
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

  void take_named(std::size_t i, bool declared_below) {
    for (const std::size_t other : named_[i]) {
      if (is_function(other) || (declared_below && only_declares(other))) {
        take_with_needs(other);
      }
    }
  }

  void take_with_needs(std::size_t i) {
    if (is_taken_[i] || !is_entered_.insert(i).second) {
      return;  // or two that need each other
    }
    take_named(i, /*declared_below=*/true);
    take(i);
  }

  // Whether all that it names, itself or through functions, is taken or such a function above.
  [[nodiscard]] bool is_ready(std::size_t i, std::size_t place, std::set<std::size_t>& seen) const {
    return std::ranges::all_of(named_[i], [&](std::size_t other) {
      const bool waits = is_function(other) && other <= place;
      return is_taken_[other] || !seen.insert(other).second ||
             (waits && is_ready(other, place, seen));
    });
  }

  void take_ready(std::size_t place) {
    for (const std::size_t i : std::exchange(waiting_, {})) {
      std::set<std::size_t> seen{i};
      if (is_ready(i, place, seen)) {
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
  const auto computes = [](const Statement& input) {
    return input.kind == StatementKind::kBinding || input.kind == StatementKind::kOther;
  };
  const auto first = std::ranges::find_if(inputs, is_auto);
  const auto last = std::find_if(first, inputs.end(), computes);
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

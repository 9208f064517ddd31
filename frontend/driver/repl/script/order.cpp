#include "frontend/driver/repl/script/order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "frontend/driver/repl/script/words.h"

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
      for (const std::string& name : names_read_in(text_at(sources, input.span))) {
        const auto found = declared.find(name);
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
  // Whether all that it names is taken, or is a function up to `place` of which the same holds;
  // functions that need each other do not stand in each other's way.
  [[nodiscard]] bool may_follow(std::size_t i, std::size_t place,
                                std::set<std::size_t>& seen) const {
    return std::ranges::all_of(named_[i], [&](std::size_t other) {
      return is_taken_[other] || !seen.insert(other).second ||
             (is_function(other) && other <= place && may_follow(other, place, seen));
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

  // Where a function is called, all is there that it reads: what seems to be missing, as it has the
  // name of a value from further below, is something of its own.
  void take_functions_for(std::size_t i) {
    for (const std::size_t other : named_[i]) {
      if (is_function(other)) {
        static_cast<void>(take_with_needs(other));
      }
    }
  }

  // What stands at `place` or above it, and needs nothing from below.
  void take_ready(std::size_t place) {
    for (const std::size_t i : std::exchange(waiting_, {})) {
      std::set<std::size_t> seen{i};
      if (may_follow(i, place, seen)) {
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

std::vector<Together> in_order(const ast::File& tree, const SourceMap& sources) {
  return Order(Script::inputs_of(tree), sources).run();
}

}  // namespace mtf

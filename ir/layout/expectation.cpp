#include "ir/layout/expectation.h"

namespace mtf {

bool holds(double value, Relation relation, double bound) {
  switch (relation) {
    case Relation::kEqual:
      return value == bound;
    case Relation::kNotEqual:
      return value != bound;
    case Relation::kLess:
      return value < bound;
    case Relation::kLessEqual:
      return value <= bound;
    case Relation::kGreater:
      return value > bound;
    case Relation::kGreaterEqual:
      break;
  }
  return value >= bound;
}

}  // namespace mtf

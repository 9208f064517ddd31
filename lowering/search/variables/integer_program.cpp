#include "lowering/search/variables/integer_program.h"

#include <algorithm>
#include <cmath>
#include <coin/Cbc_C_Interface.h>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <string>

namespace mtf {
namespace {

// Loaded by hand: with all that it needs, it would make each start of the program 6 ms longer.
struct Cbc {
  decltype(&Cbc_newModel) new_model = nullptr;
  decltype(&Cbc_deleteModel) delete_model = nullptr;
  decltype(&Cbc_setLogLevel) set_log_level = nullptr;
  decltype(&Cbc_addCol) add_column = nullptr;
  decltype(&Cbc_addRow) add_row = nullptr;
  decltype(&Cbc_solve) solve = nullptr;
  decltype(&Cbc_isProvenOptimal) is_proven_optimal = nullptr;
  decltype(&Cbc_getColSolution) solution = nullptr;
};

// While it lives, a BLAS that is loaded starts no threads. OpenBLAS starts one for each core, which
// asks for 192 MiB until it gets them: under `ulimit -v` for ever, also when the process is to end.
class OneThread {
 public:
  OneThread() {
    if (const char* asked = std::getenv(kName)) {
      asked_ = asked;
    }
    setenv(kName, "1", 1);
  }
  ~OneThread() { asked_ ? setenv(kName, asked_->c_str(), 1) : unsetenv(kName); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  OneThread(OneThread&&) = delete;
  OneThread& operator=(OneThread&&) = delete;

 private:
  static constexpr const char* kName = "OPENBLAS_NUM_THREADS";
  std::optional<std::string> asked_;
};

// nullopt: it is not installed.
std::optional<Cbc> loaded() {
  const OneThread alone;
  void* library = dlopen("libCbcSolver.so.3", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return std::nullopt;
  }
  bool has_all = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    has_all = has_all && function != nullptr;
  };
  Cbc cbc;
  find(cbc.new_model, "Cbc_newModel");
  find(cbc.delete_model, "Cbc_deleteModel");
  find(cbc.set_log_level, "Cbc_setLogLevel");
  find(cbc.add_column, "Cbc_addCol");
  find(cbc.add_row, "Cbc_addRow");
  find(cbc.solve, "Cbc_solve");
  find(cbc.is_proven_optimal, "Cbc_isProvenOptimal");
  find(cbc.solution, "Cbc_getColSolution");
  return has_all ? std::optional(cbc) : std::nullopt;
}

const std::optional<Cbc>& solver() {
  static const std::optional<Cbc> cbc = loaded();
  return cbc;
}

// What multiplies a row so that its largest number is 1: bytes and seconds are far apart.
double scale_of(const IntegerProgram::Row& row) {
  double largest = std::abs(row.most);
  for (const IntegerProgram::Term& term : row.terms) {
    largest = std::max(largest, std::abs(term.weight));
  }
  return largest > 0 ? 1 / largest : 1;
}

void add_row(const Cbc& cbc, Cbc_Model* model, const IntegerProgram::Row& row) {
  const double scale = scale_of(row);
  std::vector<int> columns;
  std::vector<double> weights;
  for (const IntegerProgram::Term& term : row.terms) {
    columns.push_back(static_cast<int>(term.choice));
    weights.push_back(term.weight * scale);
  }
  cbc.add_row(model, "", static_cast<int>(columns.size()), columns.data(), weights.data(), 'L',
              row.most * scale);
}

}  // namespace

bool has_integer_solver() {
  return solver().has_value();
}

std::optional<std::vector<std::size_t>> solve(const IntegerProgram& program) {
  const bool may_take_none =  // the rows, with nothing taken
      std::ranges::all_of(program.rows,
                          [](const IntegerProgram::Row& row) { return row.most >= 0; });
  if (program.costs.empty() && may_take_none) {
    return std::vector<std::size_t>();
  }
  if (program.costs.empty() || !has_integer_solver()) {
    return std::nullopt;
  }
  const Cbc& cbc = *solver();
  const std::unique_ptr<Cbc_Model, decltype(cbc.delete_model)> model(cbc.new_model(),
                                                                     cbc.delete_model);
  cbc.set_log_level(model.get(), 0);
  double largest = 0;
  for (const double cost : program.costs) {
    largest = std::max(largest, std::abs(cost));
  }
  for (const double cost : program.costs) {
    cbc.add_column(model.get(), "", 0, 1, largest > 0 ? cost / largest : 0, 1, 0, nullptr, nullptr);
  }
  for (const IntegerProgram::Row& row : program.rows) {
    add_row(cbc, model.get(), row);
  }
  if (cbc.solve(model.get()) != 0 || cbc.is_proven_optimal(model.get()) == 0) {
    return std::nullopt;
  }
  std::vector<std::size_t> taken;
  const double* solution = cbc.solution(model.get());
  for (std::size_t i = 0; i < program.costs.size(); ++i) {
    if (solution[i] > 0.5) {
      taken.push_back(i);
    }
  }
  return taken;
}

}  // namespace mtf

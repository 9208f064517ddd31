// What files of metrics hold, gathered into curves.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "frontend/driver/metrics/curves.h"

namespace mtf {

// Of whom a number is.
struct CurveOwner {
  std::string run = {};    // the folder of its events, below the one that is read
  std::string entry = {};  // the function that trains
};

class CurveReader {
 public:
  void add(const CurveOwner& owner, std::string_view name, std::int64_t step, double value);

  [[nodiscard]] bool has_infinite() const { return infinite_; }
  // Runs are named where there are several, and entries where the run has several.
  [[nodiscard]] std::vector<Curve2d> take();

 private:
  std::vector<Curve2d> curves_;
  std::vector<CurveOwner> owners_;  // of each
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places_;
  std::map<std::string, std::set<std::string>> entries_;  // of each run
  bool infinite_ = false;
};

// "" or why the file cannot be read.
[[nodiscard]] std::string read_whole(const std::string& path, std::string& text);

// A folder with event files of TensorBoard: these are one run, the older ones first.
struct EventRun {
  std::string name;  // "" for the folder that is read itself
  std::vector<std::string> files;
};
[[nodiscard]] bool is_event_file(const std::string& path);
// In the folder and those below it, in the order of their names; of a file, itself.
[[nodiscard]] std::vector<EventRun> event_runs(const std::string& path);
[[nodiscard]] Curves event_curves(const std::string& path);

}  // namespace mtf

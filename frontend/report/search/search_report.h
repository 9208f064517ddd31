// What `mtf search` found, and why that is it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/layout/layout.h"
#include "ir/support/source.h"
#include "lowering/search/search.h"

namespace mtf {

// A layout that no other beats in both time and memory; figures of the whole programs' plans.
struct FoundLayout {
  Layout layout;
  Mesh written;  // the layout's mesh, without axes of one rank that nothing names
  Priced priced;
  double utilization = 0;
};

// How far an answer may be from the best that there is.
struct SearchProof {
  double gap = 0;  // by how much that may be better, as a share of it; infinite: nobody knows
  bool is_whole = false;           // by all others, and not by the bound alone
  std::optional<Reaches> reaches;  // nothing that says no more than this is better
  bool leaves_groups = false;      // … and has no rules of single variables, by `at`
  bool leaves_lets = false;   // the bound says nothing of rules by `at let`, of which there are
  bool leaves_infer = false;  // … and no more of what follows (`infer`)
  // Where the answer does not fit the memory, what is shown is that nothing does.
  bool fits = true;
  double least_bytes = 0;   // that any layout holds, whatever its rules
  double needed_bytes = 0;  // that the answer holds
  double memory = 0;

  [[nodiscard]] bool is_bound_beyond() const { return !fits && least_bytes > memory; }
  [[nodiscard]] bool is_proven() const { return fits ? gap == 0 : is_whole || is_bound_beyond(); }
};
// Of a gap that is known: "44 %", "99.6 %".
[[nodiscard]] std::string less_text(double gap);
// Of an answer that fits: "proven", "at most 44 % less is possible".
[[nodiscard]] std::string gap_text(const SearchProof& proof);

// A dim, where the answer has it, and the cheapest layout that has it elsewhere.
struct DimChoice {
  std::string dim;
  std::string here;          // "rows", "whole"
  bool is_fixed = false;     // by a rule of the file
  std::string there;         // of the runner-up; "" if no other place is possible, or
  bool is_left_out = false;  // … there was no work left to look at one
  std::string refused;  // of a place that an `expect` alone forbids, where no other is possible
  double value = 0;     // what that costs, in the unit of the objective
  double bytes = 0;     // what it has in memory
};

// Collectives of one kind over the same axes for one reason.
struct MovedFor {
  std::string what;  // "all_reduce over rows"
  std::string why;   // "batch is summed and split over rows by `batch -> rows`"
  std::int64_t calls = 0;
  std::int64_t bytes = 0;
  double seconds = 0;
};

// One of all candidates, for a picture.
struct CandidatePoint {
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  bool fits = true;
};

// A `recompute` block, and what the program takes under the answer without it; or with all of them
// where the answer keeps what they compute.
struct RecomputedBlock {
  std::string place;  // "net.mtf:12"; "" for all
  bool is_possible = false;
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  bool fits = false;
};

// The answer with another rule: `--explain`.
struct ExplainedRule {
  std::string dim;
  std::string place;       // where the rule has it: "rows, *"
  std::string instead_of;  // … and the answer
  bool is_answer = false;
  FoundLayout with;
  bool fits = true;
};

// Of so many ranks, what a rank takes: `--fit`.
struct TriedRanks {
  std::int64_t ranks = 0;
  std::optional<std::int64_t> bytes;  // nullopt: there is no layout
  bool is_bound = false;              // or more, by the sizes of dims alone
  std::string says;                   // the rules, or why there is no layout
};

// The best layout where a figure of the hardware is so many times what it is: `--sensitivity`.
struct VariedHardware {
  double factor = 1;
  Layout layout;
  double seconds = 0;
  std::int64_t peak_bytes = 0;
};

struct SearchReport {
  std::vector<std::string> entries;
  std::string hardware;
  SearchGoal goal;
  bool is_declared_mesh = true;                // not one of many shapes
  std::size_t meshes = 1;                      // shapes that were looked at
  std::vector<std::string> other_meshes = {};  // of the file, where nobody has chosen one
  std::vector<FoundLayout> front;              // the fastest first
  std::size_t best = 0;                        // of the front
  bool fits = true;                            // the best has no more than the memory
  SearchProof proof;
  std::size_t priced = 0;
  std::size_t legal = 0;
  std::vector<DimChoice> dims;
  bool is_indivisible = false;  // there are none, since no axis divides the size of a dim
  std::vector<MovedFor> moved;
  std::vector<RecomputedBlock> recomputed;
  std::vector<CandidatePoint> points;
  // What was asked for beside the answer.
  std::optional<ExplainedRule> explained;
  std::vector<TriedRanks> tried;  // by their number
  std::string varied;             // the figure
  std::vector<VariedHardware> sensitivity;
  // The answer in as few words as it takes, and what becomes of that: "written into net.mtf".
  std::string wording;
  std::string taken;
};

// "step + evaluate"
[[nodiscard]] std::string entries_text(const std::vector<std::string>& entries);
[[nodiscard]] std::string_view name_of(Objective objective);

[[nodiscard]] std::string search_text(const SearchReport& report);
[[nodiscard]] std::string search_json(const SearchReport& report);

// Of what was asked for; "" if it was not.
[[nodiscard]] std::string fit_text(const SearchReport& report);
[[nodiscard]] std::string explained_text(const SearchReport& report);
[[nodiscard]] std::string sensitivity_text(const SearchReport& report);

// Seconds, or bytes.
[[nodiscard]] std::string value_text(double value, Objective objective);

}  // namespace mtf

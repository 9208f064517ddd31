// What goes from whom to whom in a collective. Blocks that two ranks exchange are what one has of
// what the other needs.

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <utility>

#include "frontend/report/quantity.h"
#include "frontend/report/show/shown.h"
#include "ir/support/columns.h"

namespace mtf {
namespace {

constexpr std::size_t kMostGroups = 8;
constexpr std::size_t kMostOfGroup = 8;

std::vector<std::int64_t> group_with(const MovePicture& move, std::int64_t rank) {
  return move.kind == StepKind::kSlice ? std::vector<std::int64_t>{rank}
                                       : move.from.mesh.group_of(rank, move.axes);
}

Slice slice_in(const Picture& picture, std::int64_t rank) {
  return slice_of(picture.type.shape, picture.layout, picture.mesh, rank);
}

// Who gives each rank of a group its slice in a permutation: itself if it has it, otherwise the
// first that has it and gives it to nobody else, as the executor does it.
std::vector<std::int64_t> givers(const MovePicture& move, const std::vector<std::int64_t>& group) {
  std::vector<std::int64_t> result(group.size(), -1);
  std::set<std::int64_t> taken;
  const auto gives = [&](std::size_t to, std::int64_t from) {
    if (result[to] < 0 && !taken.contains(from) &&
        slice_in(move.from, from).offset == slice_in(move.to, group[to]).offset) {
      result[to] = from;
      taken.insert(from);
    }
  };
  for (std::size_t i = 0; i < group.size(); ++i) {
    gives(i, group[i]);
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    for (const std::int64_t from : group) {
      gives(i, from);
    }
  }
  return result;
}

std::vector<std::int64_t> sources_for(const MovePicture& move, std::int64_t rank) {
  std::vector<std::int64_t> group = group_with(move, rank);
  if (move.kind != StepKind::kPermute) {
    return group;
  }
  const auto place = std::ranges::find(group, rank) - group.begin();
  const std::int64_t giver = givers(move, group)[static_cast<std::size_t>(place)];
  return giver < 0 ? std::vector<std::int64_t>() : std::vector<std::int64_t>{giver};
}

// Elements so far apart, counted upwards.
struct Spaced {
  Interval part;
  std::int64_t step = 1;
};

Spaced spaced(const IndexRun& run) {
  const std::int64_t last = run.from + run.from_step * (run.count - 1);
  const std::int64_t begin = std::min(run.from, last);
  return {.part = {.begin = begin, .extent = std::max(run.from, last) + 1 - begin},
          .step = run.count == 1 ? 1 : std::abs(run.from_step)};
}

// What the rank reads of what the source has: a product of runs, one of each dim of the operand.
std::vector<Delivery> read_from(const MovePicture& move, std::int64_t source, std::int64_t rank) {
  const Slice has = slice_in(move.from, source);
  const Slice wants = slice_in(move.to, rank);
  std::vector<Delivery> boxes = {{.from = source, .to = rank, .part = {}}};
  for (const MovedDim& read : move.reads) {
    const std::int64_t size = move.from.type.shape[read.dim].size;
    std::vector<Delivery> longer;
    for (const Delivery& box : boxes) {
      for (const IndexRun& run :
           runs_within(runs_of(read.map, size, read.wanted_by(wants)), has.along(read.dim))) {
        const auto [part, step] = spaced(run);
        Delivery& next = longer.emplace_back(box);
        next.part.offset.push_back(part.begin);
        next.part.extent.push_back(part.extent);
        next.step.push_back(step);
      }
    }
    boxes = std::move(longer);
  }
  const auto is_close = [](std::int64_t step) { return step == 1; };
  for (Delivery& box : boxes) {
    if (std::ranges::all_of(box.step, is_close)) {
      box.step.clear();
    }
  }
  return volume_of(wants) == 0 ? std::vector<Delivery>() : boxes;
}

// "y 0..6", "x 1..12 step 2"
std::string part_text(const Shape& shape, const Delivery& delivery) {
  if (delivery.step.empty()) {
    return box_text(shape, delivery.part, /*whole=*/false);
  }
  std::string text;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const bool is_spaced = delivery.step[d] != 1;
    if (is_spaced || delivery.part.extent[d] != shape[d].size) {
      text += (text.empty() ? "" : ", ") + shape[d].name + " " + extent_text(delivery.part, d) +
              (is_spaced ? " step " + std::to_string(delivery.step[d]) : "");
    }
  }
  return text;
}

// A group is in the order of its axes, which need not be that of its ranks.
std::string in_order(std::vector<std::int64_t> ranks) {
  std::ranges::sort(ranks);
  return ranks_text(ranks);
}

// "has embed 4..8; gets embed 0..4 from 0", of what a rank has and gets.
std::string kept_and_got_text(const Shape& shape, const std::vector<Delivery>& deliveries) {
  std::string kept;
  std::string got;
  for (const Delivery& delivery : deliveries) {
    const std::string part = part_text(shape, delivery);
    if (delivery.from == delivery.to) {
      kept += (kept.empty() ? "has " : ", ") + part;
    } else {
      got += (got.empty() ? "gets " : ", ") + part + " from " + std::to_string(delivery.from);
    }
  }
  return kept + (kept.empty() || got.empty() ? "" : "; ") + got;
}

// "rank 1", "gets embed 0..4 from 0".
Row row_of(const MovePicture& move, std::int64_t rank) {
  const Shape& shape = (move.reads.empty() ? move.to : move.from).type.shape;
  const std::vector<Delivery> deliveries = deliveries_to(move, rank);
  const std::string name = "rank " + std::to_string(rank);
  if (move.kind == StepKind::kServe) {
    return {name, "gets " + box_text(shape, slice_in(move.to, rank), /*whole=*/false) +
                      " from those that have what it asks for"};
  }
  if (deliveries.empty()) {
    return {name, "gets nothing"};
  }
  if (move.adds) {
    std::vector<std::int64_t> terms;
    terms.reserve(deliveries.size());
    for (const Delivery& delivery : deliveries) {
      terms.push_back(delivery.from);
    }
    return {name, "gets " + box_text(shape, slice_in(move.to, rank), /*whole=*/false) +
                      ", combined from " + in_order(std::move(terms))};
  }
  return {name, kept_and_got_text(shape, deliveries)};
}

std::string move_groups_text(const MovePicture& move) {
  const std::vector<std::vector<std::int64_t>> groups = groups_of(move);
  std::string text;
  for (const std::int64_t i :
       first_and_last(static_cast<std::int64_t>(groups.size()), kMostGroups)) {
    const bool skipped =
        i + 1 == static_cast<std::int64_t>(groups.size()) && groups.size() > kMostGroups;
    text += std::string(skipped ? " .." : "") + " {" +
            in_order(groups[static_cast<std::size_t>(i)]) + "}";
  }
  return count_text(static_cast<std::int64_t>(groups.size()), "group") + " of " +
         count_text(static_cast<std::int64_t>(groups.front().size()), "rank") + ":" + text;
}

}  // namespace

std::vector<std::vector<std::int64_t>> groups_of(const MovePicture& move) {
  std::vector<std::vector<std::int64_t>> groups;
  for (std::int64_t rank = 0; rank < move.from.mesh.ranks(); ++rank) {
    std::vector<std::int64_t> group = group_with(move, rank);
    if (std::ranges::min(group) == rank) {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

std::vector<Delivery> deliveries_to(const MovePicture& move, std::int64_t rank) {
  std::vector<Delivery> deliveries;
  if (move.kind == StepKind::kServe) {
    return deliveries;  // who has it is known when the program runs
  }
  if (!move.reads.empty()) {
    for (const std::int64_t source : group_with(move, rank)) {
      std::ranges::move(read_from(move, source, rank), std::back_inserter(deliveries));
    }
    return deliveries;
  }
  const Slice needed = slice_in(move.to, rank);
  for (const std::int64_t source : sources_for(move, rank)) {
    const Slice part = intersection(slice_in(move.from, source), needed);
    if (volume_of(part) > 0) {
      deliveries.push_back({.from = source, .to = rank, .part = part});
    }
  }
  return deliveries;
}

std::string moves_text(const MovePicture& move, const PictureOptions& options) {
  std::string text = fitted_line(move.to.name + " = " + move.text, 0, options.columns) + "\n";
  if (move.kind != StepKind::kSlice && move.from.mesh.ranks() <= kMostRanksShown) {
    text += fitted_line(move_groups_text(move), 2, options.columns) + "\n";
  }
  const std::int64_t rank = options.rank.value_or(0);
  std::vector<Row> rows;
  std::vector<std::int64_t> group = group_with(move, rank);
  std::ranges::sort(group);
  for (const std::int64_t i :
       first_and_last(static_cast<std::int64_t>(group.size()), kMostOfGroup)) {
    rows.push_back(row_of(move, group[static_cast<std::size_t>(i)]));
    if (group.size() > kMostOfGroup && rows.size() == kMostOfGroup - 1) {
      rows.push_back({"..."});
    }
  }
  const bool is_listed = std::ranges::any_of(
      rows, [&](const Row& row) { return row.front() == "rank " + std::to_string(rank); });
  if (!is_listed) {
    rows.push_back(row_of(move, rank));
  }
  return text + in_columns(rows, {.width = options.columns});
}

std::string shown_text(std::span<const Shown> forms, const PictureOptions& options) {
  std::string text;
  for (const Shown& shown : forms) {
    text += text.empty() ? "" : "\n";
    if (shown.product) {
      text += product_text(*shown.product, options);
    } else {
      text += (shown.move ? moves_text(*shown.move, options) + "\n" : "") +
              picture_text(shown.picture, options);
    }
  }
  return text;
}

}  // namespace mtf

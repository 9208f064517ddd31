// What `mtf show` draws: a value in each form that a plan has of it, with the product or the
// collective that made it; and meshes.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/report/show/blocks.h"
#include "frontend/report/show/placing.h"
#include "ir/support/source.h"
#include "lowering/spmd.h"

namespace mtf {

// One operand or the result, and the dims of it that go down and across. Dims of the others are in
// both operands and in the result.
struct ProductSide {
  Picture picture;
  Placing placing;
};

// Placed as a product of matrices is: the first operand on the left, the second above the result.
struct ProductPicture {
  std::string text;  // "einsum(x, w)"
  ProductSide left;
  ProductSide right;
  ProductSide result;
};

// Part of a tensor that goes from a rank to another; or stays where it is.
struct Delivery {
  std::int64_t from = 0;
  std::int64_t to = 0;
  Slice part;
  std::vector<std::int64_t> step = {};  // per dim: so far apart; none: all of the part
};

// A collective, or the slicing of a value.
struct MovePicture {
  std::string text;  // "all_reduce(%9, sum over cols)"
  StepKind kind{};
  Axes axes;          // of the group that communicates
  bool adds = false;  // the parts that a rank gets of one place are combined
  Picture from;
  Picture to;
  std::vector<MovedDim> reads = {};  // of a halo exchange: how the result reads what is moved
};

// The groups in which ranks communicate. requires: at most kMostRanksShown ranks.
[[nodiscard]] std::vector<std::vector<std::int64_t>> groups_of(const MovePicture& move);
// What a rank gets from others, and keeps of its own; of a halo exchange, what it reads of both.
[[nodiscard]] std::vector<Delivery> deliveries_to(const MovePicture& move, std::int64_t rank);

struct Shown {
  Picture picture;
  std::optional<ProductPicture> product;
  std::optional<MovePicture> move;
};

// Of a name as `mtf why` takes it, all forms.
[[nodiscard]] std::vector<Shown> shown_forms(const SpmdProgram& program, const SourceMap& sources,
                                             const std::string& wanted);

// Of an output that is known by another name.
[[nodiscard]] std::vector<Shown> shown_output(const SpmdProgram& program, std::size_t output,
                                              const std::string& name);

[[nodiscard]] std::string product_text(const ProductPicture& product,
                                       const PictureOptions& options);
[[nodiscard]] std::string moves_text(const MovePicture& move, const PictureOptions& options);
[[nodiscard]] std::string shown_text(std::span<const Shown> forms, const PictureOptions& options);
[[nodiscard]] std::string mesh_picture_text(const Mesh& mesh, const PictureOptions& options);

[[nodiscard]] std::string shown_json(std::span<const Shown> forms);
[[nodiscard]] std::string mesh_picture_json(std::span<const Mesh> meshes);

}  // namespace mtf

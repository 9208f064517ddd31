// Predicted time: each step of an SPMD program on a hardware profile.
//
// A product takes as long as its arithmetic or its memory traffic, whichever is slower (the
// roofline model), at a rate that its size and its shortest side give; what goes element by element
// takes both; a collective as long as a ring needs (its volume in lowering/SHARDING.md), or as it
// was measured to take. Steps follow one another; only what passes in pieces (stream.h) goes on
// behind the product that works on it, as far as the profile's `overlap` says.

#pragma once

#include <vector>

#include "ir/layout/hardware.h"
#include "lowering/spmd.h"

namespace mtf {

// Seconds, per rank.
struct Prices {
  std::vector<double> steps;  // of each step of the program
  double compute = 0;         // their sum over kernels and slices
  double communication = 0;   // and over collectives

  [[nodiscard]] double seconds() const { return compute + communication; }
};

[[nodiscard]] Prices price(const SpmdProgram& program, const Hardware& hardware);

// What a kernel reads from memory and leaves there; what it passes on inside is not, and an
// operation that computes nothing reads no more than it writes. 0 for other steps.
[[nodiscard]] double bytes_touched(const SpmdProgram& program, const Step& step);

// Of one collective that a rank receives so many bytes in.
[[nodiscard]] double collective_seconds(StepKind kind, std::int64_t bytes, const Mesh& mesh,
                                        const Axes& axes, const Hardware& hardware);

// The most bytes per second that a rank receives in any collective of the mesh.
[[nodiscard]] double most_bandwidth(const Mesh& mesh, const Hardware& hardware);

}  // namespace mtf

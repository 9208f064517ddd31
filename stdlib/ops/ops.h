// All operations, one constant each, in the files named above them. This list is the table:
// stdlib/ops/table.cmake reads it.

#pragma once

#include "ir/op.h"

namespace mtf {

namespace ops {

// add.cpp
extern const OpDef kAdd;
extern const OpDef kSub;
extern const OpDef kNeg;
// mul.cpp
extern const OpDef kMul;
extern const OpDef kDiv;
extern const OpDef kReciprocal;
// floordiv.cpp
extern const OpDef kFloorDiv;
extern const OpDef kMod;
// pow.cpp
extern const OpDef kPow;
extern const OpDef kSquare;
// minimum.cpp
extern const OpDef kMinimum;
extern const OpDef kMaximum;
// compare.cpp
extern const OpDef kLess;
extern const OpDef kLessEqual;
extern const OpDef kGreater;
extern const OpDef kGreaterEqual;
extern const OpDef kEqual;
extern const OpDef kNotEqual;
extern const OpDef kIsFinite;
// close.cpp
extern const OpDef kClose;
// logic.cpp
extern const OpDef kAnd;
extern const OpDef kOr;
extern const OpDef kNot;
// exponential.cpp
extern const OpDef kExp;
extern const OpDef kExpm1;
extern const OpDef kLog;
extern const OpDef kLog1p;
extern const OpDef kSqrt;
extern const OpDef kRsqrt;
// trigonometric.cpp
extern const OpDef kSin;
extern const OpDef kCos;
extern const OpDef kTanh;
extern const OpDef kErf;  // erf.cpp
// identity.cpp
extern const OpDef kIdentity;
extern const OpDef kStopGradient;
extern const OpDef kPin;
extern const OpDef kAbs;
extern const OpDef kSign;
// where.cpp
extern const OpDef kWhere;
// cast.cpp
extern const OpDef kCast;
// activation.cpp
extern const OpDef kRelu;
extern const OpDef kSigmoid;
extern const OpDef kGelu;
extern const OpDef kSilu;
extern const OpDef kSoftplus;
// sum.cpp
extern const OpDef kSum;
// mean.cpp
extern const OpDef kMean;
// max.cpp
extern const OpDef kMax;
extern const OpDef kMin;
// prod.cpp
extern const OpDef kProd;
// cumsum.cpp
extern const OpDef kCumsum;
// any_all.cpp
extern const OpDef kAny;
extern const OpDef kAll;
// softmax.cpp
extern const OpDef kLogSumExp;
extern const OpDef kSoftmax;
extern const OpDef kLogSoftmax;
// one_hot.cpp
extern const OpDef kRange;
extern const OpDef kOneHot;
extern const OpDef kArgmax;
// einsum.cpp
extern const OpDef kEinsum;
// broadcast.cpp
extern const OpDef kBroadcast;
extern const OpDef kTranspose;
// rename.cpp
extern const OpDef kRename;
// reshape.cpp
extern const OpDef kReshape;
// slice.cpp
extern const OpDef kIndex;
extern const OpDef kSlice;
extern const OpDef kPad;
// concat.cpp
extern const OpDef kConcat;
extern const OpDef kStack;
// shift.cpp
extern const OpDef kShift;
extern const OpDef kReverse;  // reverse.cpp
extern const OpDef kWindows;  // windows.cpp
// gather.cpp
extern const OpDef kGather;
// scatter_add.cpp
extern const OpDef kScatterAdd;
// fill.cpp
extern const OpDef kFill;
extern const OpDef kZeros;
extern const OpDef kOnes;
extern const OpDef kConst;
// random.cpp
extern const OpDef kNormal;
extern const OpDef kUniform;
// file.cpp
extern const OpDef kLoad;
extern const OpDef kWrite;
// print.cpp
extern const OpDef kPrint;
extern const OpDef kAssert;
extern const OpDef kCheckFinite;

}  // namespace ops

// All of them, in the order of this file.
[[nodiscard]] OpTable op_table();

}  // namespace mtf

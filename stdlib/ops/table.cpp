// The table of operations: the order in which `mtf ops` lists those of a family.

#include <array>

#include "stdlib/ops/ops.h"

namespace mtf {
namespace {

constexpr std::array kTable{
    &ops::kAdd,          &ops::kSub,       &ops::kNeg,      &ops::kMul,          &ops::kDiv,
    &ops::kReciprocal,   &ops::kFloorDiv,  &ops::kMod,      &ops::kPow,          &ops::kSquare,
    &ops::kMinimum,      &ops::kMaximum,   &ops::kLess,     &ops::kLessEqual,    &ops::kGreater,
    &ops::kGreaterEqual, &ops::kEqual,     &ops::kNotEqual, &ops::kIsFinite,     &ops::kClose,
    &ops::kAnd,          &ops::kOr,        &ops::kNot,      &ops::kExp,          &ops::kExpm1,
    &ops::kLog,          &ops::kLog1p,     &ops::kSqrt,     &ops::kRsqrt,        &ops::kSin,
    &ops::kCos,          &ops::kTanh,      &ops::kIdentity, &ops::kStopGradient, &ops::kAbs,
    &ops::kSign,         &ops::kWhere,     &ops::kCast,     &ops::kRelu,         &ops::kSigmoid,
    &ops::kGelu,         &ops::kSilu,      &ops::kSoftplus, &ops::kSum,          &ops::kMean,
    &ops::kMax,          &ops::kMin,       &ops::kProd,     &ops::kCumsum,       &ops::kAny,
    &ops::kAll,          &ops::kLogSumExp, &ops::kSoftmax,  &ops::kLogSoftmax,   &ops::kRange,
    &ops::kOneHot,       &ops::kArgmax,    &ops::kEinsum,   &ops::kBroadcast,    &ops::kTranspose,
    &ops::kRename,       &ops::kReshape,   &ops::kIndex,    &ops::kSlice,        &ops::kPad,
    &ops::kConcat,       &ops::kStack,     &ops::kShift,    &ops::kGather,       &ops::kScatterAdd,
    &ops::kFill,         &ops::kZeros,     &ops::kOnes,     &ops::kConst,        &ops::kNormal,
    &ops::kUniform,      &ops::kLoad,      &ops::kWrite,    &ops::kPrint,        &ops::kAssert,
    &ops::kCheckFinite,  &ops::kPin,
};

}  // namespace

OpTable op_table() {
  return kTable;
}

}  // namespace mtf

// All operations, one constant each, in the file of this folder that is named above it. This is the
// table: stdlib/ops/table.cmake reads it, and sees that each file defines what it is said to.

#pragma once

#include "ir/op.h"

namespace mtf::ops {

// elementwise/add.cpp
extern const OpDef kAdd;
extern const OpDef kSub;
extern const OpDef kNeg;
// elementwise/mul.cpp
extern const OpDef kMul;
extern const OpDef kDiv;
extern const OpDef kReciprocal;
// elementwise/floordiv.cpp
extern const OpDef kFloorDiv;
extern const OpDef kMod;
// elementwise/pow.cpp
extern const OpDef kPow;
extern const OpDef kSquare;
// elementwise/minimum.cpp
extern const OpDef kMinimum;
extern const OpDef kMaximum;
// elementwise/compare.cpp
extern const OpDef kLess;
extern const OpDef kLessEqual;
extern const OpDef kGreater;
extern const OpDef kGreaterEqual;
extern const OpDef kEqual;
extern const OpDef kNotEqual;
extern const OpDef kIsFinite;
extern const OpDef kIsInf;
extern const OpDef kIsNan;
// source/close.cpp
extern const OpDef kClose;
// elementwise/logic.cpp
extern const OpDef kAnd;
extern const OpDef kOr;
extern const OpDef kNot;
// elementwise/bits.cpp
extern const OpDef kBitAnd;
extern const OpDef kBitOr;
extern const OpDef kBitXor;
extern const OpDef kBitNot;
extern const OpDef kLeftShift;
extern const OpDef kRightShift;
// elementwise/exponential.cpp
extern const OpDef kExp;
extern const OpDef kExpm1;
extern const OpDef kLog;
extern const OpDef kLog1p;
extern const OpDef kSqrt;
extern const OpDef kRsqrt;
// elementwise/trigonometric.cpp
extern const OpDef kSin;
extern const OpDef kCos;
extern const OpDef kTan;
extern const OpDef kSinh;
extern const OpDef kCosh;
extern const OpDef kTanh;
// elementwise/arc.cpp
extern const OpDef kAsin;
extern const OpDef kAcos;
extern const OpDef kAtan;
extern const OpDef kAtan2;
// elementwise/erf.cpp
extern const OpDef kErf;
extern const OpDef kErfc;
// elementwise/logaddexp.cpp
extern const OpDef kLogAddExp;
// elementwise/rounding.cpp
extern const OpDef kFloor;
extern const OpDef kCeil;
extern const OpDef kRound;
extern const OpDef kTrunc;
// move/identity.cpp
extern const OpDef kIdentity;
extern const OpDef kStopGradient;
// move/pin.cpp
extern const OpDef kPin;
extern const OpDef kWhole;
// move/identity.cpp
extern const OpDef kAbs;
extern const OpDef kSign;
// elementwise/clip.cpp
extern const OpDef kClip;
// elementwise/where.cpp
extern const OpDef kWhere;
// elementwise/cast.cpp
extern const OpDef kCast;
// elementwise/activation.cpp
extern const OpDef kRelu;
extern const OpDef kSigmoid;
extern const OpDef kGelu;
extern const OpDef kSilu;
extern const OpDef kSoftplus;
extern const OpDef kLogSigmoid;
// elementwise/bend.cpp
extern const OpDef kLeakyRelu;
extern const OpDef kElu;
extern const OpDef kSelu;
extern const OpDef kHardTanh;
extern const OpDef kHardSigmoid;
extern const OpDef kHardSwish;
// reduce/sum.cpp
extern const OpDef kSum;
// reduce/mean.cpp
extern const OpDef kMean;
// reduce/variance.cpp
extern const OpDef kVariance;
extern const OpDef kStd;
// reduce/max.cpp
extern const OpDef kMax;
extern const OpDef kMin;
// reduce/prod.cpp
extern const OpDef kProd;
// scan/cumulative.cpp
extern const OpDef kCumsum;
extern const OpDef kCumprod;
extern const OpDef kCummax;
extern const OpDef kCummin;
extern const OpDef kCumlogsumexp;
// scan/recurrence.cpp
extern const OpDef kRecurrence;
// reduce/any_all.cpp
extern const OpDef kAny;
extern const OpDef kAll;
// reduce/softmax.cpp
extern const OpDef kLogSumExp;
extern const OpDef kSoftmax;
extern const OpDef kLogSoftmax;
// index/one_hot.cpp
extern const OpDef kRange;
extern const OpDef kOneHot;
extern const OpDef kArgmax;
// reduce/einsum.cpp
extern const OpDef kEinsum;
// move/broadcast.cpp
extern const OpDef kBroadcast;
extern const OpDef kTranspose;
// move/rename.cpp
extern const OpDef kRename;
// move/reshape.cpp
extern const OpDef kReshape;
// move/slice.cpp
extern const OpDef kIndex;
extern const OpDef kSlice;
// move/pad.cpp
extern const OpDef kPad;
// move/concat.cpp
extern const OpDef kConcat;
extern const OpDef kStack;
// move/shift.cpp
extern const OpDef kShift;
extern const OpDef kRoll;
// move/reverse.cpp
extern const OpDef kReverse;
// move/repeat.cpp
extern const OpDef kRepeat;
extern const OpDef kTile;
// move/windows.cpp
extern const OpDef kWindows;
// convolution/conv.cpp
extern const OpDef kConv;
extern const OpDef kConvTranspose;
extern const OpDef kConvKernel;
// pooling/pool.cpp
extern const OpDef kPool;
// pooling/window_sums.cpp
extern const OpDef kMaxPool;
extern const OpDef kSumPool;
extern const OpDef kSpreadPool;
// index/gather.cpp
extern const OpDef kGather;
// index/scatter_add.cpp
extern const OpDef kScatterAdd;
// index/dynamic.cpp
extern const OpDef kDynamicSlice;
extern const OpDef kDynamicUpdate;
// source/fill.cpp
extern const OpDef kFill;
extern const OpDef kZeros;
extern const OpDef kOnes;
extern const OpDef kConst;
// random/random.cpp
extern const OpDef kNormal;
extern const OpDef kUniform;
// random/quantile.cpp
extern const OpDef kTruncatedNormal;
extern const OpDef kGumbel;
// random/integers.cpp
extern const OpDef kIntegers;
// random/chance.cpp
extern const OpDef kBernoulli;
extern const OpDef kDropout;
extern const OpDef kPermutation;
extern const OpDef kCategorical;
// order/sort.cpp
extern const OpDef kSort;
extern const OpDef kArgsort;
// order/top_k.cpp
extern const OpDef kTopK;
extern const OpDef kTopKPlaces;
extern const OpDef kNthLargest;
// order/count.cpp
extern const OpDef kArgmin;
extern const OpDef kBincount;
// linear_algebra/triangle.cpp
extern const OpDef kTril;
extern const OpDef kTriu;
extern const OpDef kDiag;
extern const OpDef kTrace;
// linear_algebra/norm.cpp
extern const OpDef kNorm;
extern const OpDef kOuter;
// linear_algebra/cholesky.cpp
extern const OpDef kCholesky;
// linear_algebra/solve.cpp
extern const OpDef kSolve;
extern const OpDef kTriangularSolve;
extern const OpDef kInverse;
// linear_algebra/det.cpp
extern const OpDef kDet;
extern const OpDef kLogDet;
// linear_algebra/cofactors.cpp
extern const OpDef kCofactors;
extern const OpDef kCofactorsAlong;
// linear_algebra/eigh.cpp
extern const OpDef kEigh;
extern const OpDef kEighVectors;
// linear_algebra/qr.cpp
extern const OpDef kQr;
extern const OpDef kQrR;
// linear_algebra/svd.cpp
extern const OpDef kSvd;
extern const OpDef kSvdU;
extern const OpDef kSvdV;
// source/file.cpp
extern const OpDef kLoad;
extern const OpDef kWrite;
// source/text_file.cpp
extern const OpDef kReadBytes;
extern const OpDef kReadCsv;
// source/tokens.cpp
extern const OpDef kReadTokens;
// source/text_file.cpp
extern const OpDef kAppend;
// source/print.cpp
extern const OpDef kPrint;
extern const OpDef kAssert;
extern const OpDef kCheckFinite;
extern const OpDef kMetric;
// source/loop.cpp
extern const OpDef kLoopCarry;
extern const OpDef kLoopWhile;
extern const OpDef kLoopNext;
extern const OpDef kLoopEnd;

}  // namespace mtf::ops

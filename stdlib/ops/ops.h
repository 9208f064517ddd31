// All operations, one constant each, in the files named above them. This list is the table:
// stdlib/ops/table.cmake reads it.

#pragma once

#include "ir/op.h"

namespace mtf::ops {

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
extern const OpDef kIsInf;
extern const OpDef kIsNan;
// close.cpp
extern const OpDef kClose;
// logic.cpp
extern const OpDef kAnd;
extern const OpDef kOr;
extern const OpDef kNot;
// bits.cpp
extern const OpDef kBitAnd;
extern const OpDef kBitOr;
extern const OpDef kBitXor;
extern const OpDef kBitNot;
extern const OpDef kLeftShift;
extern const OpDef kRightShift;
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
extern const OpDef kTan;
extern const OpDef kSinh;
extern const OpDef kCosh;
extern const OpDef kTanh;
// arc.cpp
extern const OpDef kAsin;
extern const OpDef kAcos;
extern const OpDef kAtan;
extern const OpDef kAtan2;
// erf.cpp
extern const OpDef kErf;
extern const OpDef kErfc;
extern const OpDef kLogAddExp;  // logaddexp.cpp
// rounding.cpp
extern const OpDef kFloor;
extern const OpDef kCeil;
extern const OpDef kRound;
extern const OpDef kTrunc;
// identity.cpp
extern const OpDef kIdentity;
extern const OpDef kStopGradient;
extern const OpDef kPin;
extern const OpDef kWhole;
extern const OpDef kAbs;
extern const OpDef kSign;
extern const OpDef kClip;  // clip.cpp
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
extern const OpDef kLogSigmoid;
// bend.cpp
extern const OpDef kLeakyRelu;
extern const OpDef kElu;
extern const OpDef kSelu;
extern const OpDef kHardTanh;
extern const OpDef kHardSigmoid;
extern const OpDef kHardSwish;
// sum.cpp
extern const OpDef kSum;
// mean.cpp
extern const OpDef kMean;
// max.cpp
extern const OpDef kMax;
extern const OpDef kMin;
// prod.cpp
extern const OpDef kProd;
// cumulative.cpp
extern const OpDef kCumsum;
extern const OpDef kCumprod;
extern const OpDef kCummax;
extern const OpDef kCummin;
extern const OpDef kCumlogsumexp;
// recurrence.cpp
extern const OpDef kRecurrence;
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
extern const OpDef kRoll;
extern const OpDef kReverse;  // reverse.cpp
extern const OpDef kRepeat;   // repeat.cpp
extern const OpDef kTile;
extern const OpDef kWindows;  // windows.cpp
// convolution/conv.cpp
extern const OpDef kConv;
extern const OpDef kConvTranspose;
extern const OpDef kConvKernel;
// convolution/pool.cpp
extern const OpDef kPool;
// convolution/window_sums.cpp
extern const OpDef kMaxPool;
extern const OpDef kSumPool;
extern const OpDef kSpreadPool;
// gather.cpp
extern const OpDef kGather;
// scatter_add.cpp
extern const OpDef kScatterAdd;
// dynamic.cpp
extern const OpDef kDynamicSlice;
extern const OpDef kDynamicUpdate;
// fill.cpp
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
extern const OpDef kIntegers;  // random/integers.cpp
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
// file.cpp
extern const OpDef kLoad;
extern const OpDef kWrite;
// text_file.cpp
extern const OpDef kReadBytes;
extern const OpDef kReadCsv;
extern const OpDef kReadTokens;  // tokens.cpp
extern const OpDef kAppend;
// print.cpp
extern const OpDef kPrint;
extern const OpDef kAssert;
extern const OpDef kCheckFinite;
extern const OpDef kMetric;
// loop.cpp
extern const OpDef kLoopCarry;
extern const OpDef kLoopWhile;
extern const OpDef kLoopNext;
extern const OpDef kLoopEnd;

}  // namespace mtf::ops

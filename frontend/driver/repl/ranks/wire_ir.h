// What units, layouts and diagnostics are as bytes.
//
// An operation is its place in the table, and the name of an argument is that of a parameter: both
// live as long as the process.

#pragma once

#include "frontend/device.h"
#include "frontend/driver/devices/holding_device.h"
#include "frontend/driver/repl/ranks/wire.h"

namespace mtf::wire {

template <>
inline constexpr int kMembers<FileId> = 1;
template <>
inline constexpr int kMembers<SourceSpan> = 3;
template <>
inline constexpr int kMembers<Note> = 2;
template <>
inline constexpr int kMembers<Diag> = 6;
template <>
inline constexpr int kMembers<NumberFormat> = 7;
template <>
inline constexpr int kMembers<Dim> = 2;
template <>
inline constexpr int kMembers<TensorType> = 2;
template <>
inline constexpr int kMembers<MeshAxis> = 2;
template <>
inline constexpr int kMembers<Mesh> = 5;
template <>
inline constexpr int kMembers<Condition> = 3;
template <>
inline constexpr int kMembers<NamedCondition> = 3;
template <>
inline constexpr int kMembers<Rule> = 5;
template <>
inline constexpr int kMembers<VariableRules> = 4;
template <>
inline constexpr int kMembers<Layout> = 10;
template <>
inline constexpr int kMembers<Reach> = 7;
template <>
inline constexpr int kMembers<ValueLayout> = 4;
template <>
inline constexpr int kMembers<NamedRule> = 5;
template <>
inline constexpr int kMembers<Pin> = 2;
template <>
inline constexpr int kMembers<ValueId> = 1;
template <>
inline constexpr int kMembers<Frame> = 3;
template <>
inline constexpr int kMembers<Recomputation> = 4;
template <>
inline constexpr int kMembers<Value> = 13;
template <>
inline constexpr int kMembers<Input> = 3;
template <>
inline constexpr int kMembers<Update> = 2;
template <>
inline constexpr int kMembers<Let> = 2;
template <>
inline constexpr int kMembers<Program> = 8;
template <>
inline constexpr int kMembers<Variable> = 5;
template <>
inline constexpr int kMembers<HeldTensor> = 3;
template <>
inline constexpr int kMembers<HeldState> = 5;
template <>
inline constexpr int kMembers<RandomStream> = 2;
template <>
inline constexpr int kMembers<SaveRequest> = 5;
template <>
inline constexpr int kMembers<RestoreRequest> = 6;

template <>
void Writer::put(const Shape& value);
template <>
void Reader::get(Shape& value);
template <>
void Writer::put(const Axes& value);
template <>
void Reader::get(Axes& value);
template <>
void Writer::put(const OpArgs& value);
template <>
void Reader::get(OpArgs& value);
template <>
void Writer::put(const OpDef* const& value);
template <>
void Reader::get(const OpDef*& value);

}  // namespace mtf::wire

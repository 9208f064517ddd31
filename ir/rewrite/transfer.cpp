// The parts of a rewrite that are the same for all.

#include "ir/rewrite/transfer.h"

#include <utility>

namespace mtf {

Transfer start_transfer(Program& from) {
  Transfer transfer{.from = from, .to = {}, .moved = std::vector<ValueId>(from.values.size())};
  transfer.to.name = std::move(from.name);
  transfer.to.frames = std::move(from.frames);
  transfer.to.regions = std::move(from.regions);
  // What is added must not move all that is there; memory that nobody touches costs nothing.
  transfer.to.values.reserve(from.values.size() + from.values.size() / 2);
  return transfer;
}

ValueId append(Transfer& transfer, Value value) {
  transfer.to.values.push_back(std::move(value));
  return transfer.to.last();
}

namespace {

ValueId append_reading_new(Transfer& transfer, Value value) {
  for (ValueId& operand : value.operands) {
    operand = transfer.at(operand);
  }
  ValueId& copied = value.recompute.of;
  copied = copied.valid() ? transfer.at(copied) : copied;
  return append(transfer, std::move(value));
}

}  // namespace

ValueId append_moved(Transfer& transfer, ValueId old) {
  return append_reading_new(transfer, transfer.from.at(old));
}

ValueId append_taken(Transfer& transfer, ValueId old) {
  Value& from = transfer.from.at(old);
  const TensorType type = from.type;
  Value value = std::move(from);
  from.type = type;
  return append_reading_new(transfer, std::move(value));
}

Program finish_transfer(Transfer transfer) {
  Program to = std::move(transfer.to);
  to.inputs = std::move(transfer.from.inputs);
  for (Input& input : to.inputs) {
    input.value = transfer.at(input.value);
  }
  for (const ValueId output : transfer.from.outputs) {
    to.outputs.push_back(transfer.at(output));
  }
  for (const Update& update : transfer.from.updates) {
    to.updates.push_back({.input = update.input, .value = transfer.at(update.value)});
  }
  for (Let& let : transfer.from.lets) {
    if (transfer.at(let.value).valid()) {
      to.lets.push_back({.path = std::move(let.path), .value = transfer.at(let.value)});
    }
  }
  return to;
}

}  // namespace mtf

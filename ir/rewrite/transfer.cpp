// The parts of a rewrite that are the same for all.

#include "ir/rewrite/transfer.h"

#include <utility>

namespace mtf {

Transfer start_transfer(const Program& from) {
  Transfer transfer{.from = from, .to = {}, .moved = std::vector<ValueId>(from.values.size())};
  transfer.to.name = from.name;
  transfer.to.frames = from.frames;
  transfer.to.regions = from.regions;
  transfer.to.values.reserve(from.values.size());
  return transfer;
}

ValueId append(Transfer& transfer, Value value) {
  transfer.to.values.push_back(std::move(value));
  return transfer.to.last();
}

ValueId append_moved(Transfer& transfer, ValueId old) {
  Value& value = transfer.to.values.emplace_back(transfer.from.at(old));
  for (ValueId& operand : value.operands) {
    operand = transfer.at(operand);
  }
  ValueId& copied = value.recompute.of;
  copied = copied.valid() ? transfer.at(copied) : copied;
  return transfer.to.last();
}

Program finish_transfer(Transfer transfer) {
  Program to = std::move(transfer.to);
  to.inputs = transfer.from.inputs;
  for (Input& input : to.inputs) {
    input.value = transfer.at(input.value);
  }
  for (const ValueId output : transfer.from.outputs) {
    to.outputs.push_back(transfer.at(output));
  }
  for (const Update& update : transfer.from.updates) {
    to.updates.push_back({.input = update.input, .value = transfer.at(update.value)});
  }
  for (const Let& let : transfer.from.lets) {
    if (transfer.at(let.value).valid()) {
      to.lets.push_back({.path = let.path, .value = transfer.at(let.value)});
    }
  }
  return to;
}

}  // namespace mtf

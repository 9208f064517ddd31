// What every rank finds out for itself, in files that may differ or change meanwhile, and all have
// to know alike: it decides what they do next.

#include <algorithm>
#include <array>

#include "frontend/driver/devices/execute_device.h"

namespace mtf {

std::string ExecuteDevice::of_first_rank(std::string mine) {
  if (communicator_ == nullptr || communicator_->has_all_ranks()) {
    return mine;
  }
  return communicator_->share(std::array{first_rank_ ? std::move(mine) : std::string()}).front();
}

bool ExecuteDevice::is_alike(const Program& program, DiagSink& diags) {
  std::string types;
  std::vector<const Value*> readers;
  for (const Value& value : program.values) {
    if (value.op != nullptr && value.op->file == FileUse::kReads) {
      readers.push_back(&value);
      types += mtf::to_string(value.type) + "\n";
    }
  }
  if (readers.empty() || communicator_->has_all_ranks()) {
    return true;
  }
  const std::vector<std::string> all = communicator_->share(std::array{types});
  const auto other = std::ranges::find_if(all, [&](const auto& one) { return one != all[0]; });
  if (other == all.end()) {
    return true;
  }
  const std::vector<std::string_view> first = lines_of(all[0]);
  const std::vector<std::string_view> second = lines_of(*other);
  const auto place =
      static_cast<std::size_t>(std::ranges::mismatch(first, second).in1 - first.begin());
  const Value& reader = *readers[place];
  diags.error(DiagKind::kFile, reader.span,
              "`" + std::string(reader.op->name) + "` gives " + std::string(first[place]) +
                  " on rank 0 and " + std::string(second[place]) + " on rank " +
                  std::to_string(other - all.begin()) +
                  "; all ranks have to see the same files, on a disk that they share");
  return false;
}

}  // namespace mtf

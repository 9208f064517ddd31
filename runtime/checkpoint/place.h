// The names of checkpoints: where one is written until it is whole, its parts, those that it takes
// the place of, and its siblings, whose file names differ in their last number only
// ("seed1_step100", "seed1_step200").

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mtf {

// "" or why a checkpoint cannot have that name, as what is there is none. Makes the folder that it
// is in.
[[nodiscard]] std::string make_place(const std::string& path);

// A new empty file beside the place, which this process holds until it is closed.
struct TemporaryFile {
  int file = -1;
  std::string path;
  std::string problem;
};
[[nodiscard]] TemporaryFile make_temporary(const std::string& place);
// Those that writers of such places left behind when they were killed.
void remove_abandoned(const std::string& place);

// "" or why what is in a folder may not survive a crash.
[[nodiscard]] std::string sync_folder_of(const std::string& path);

// Whether names differ in their last number only.
[[nodiscard]] bool is_sibling(std::string_view name, std::string_view other);
[[nodiscard]] bool has_number(const std::string& path);  // the file's name
// Checkpoints beside this one that have such names, this one too, the newest first; of those of one
// time, the one with the greater number.
[[nodiscard]] std::vector<std::string> siblings(const std::string& path);

// "model-5f3a2c71-00001-of-00002.safetensors": `kind` is of the content, so that no part of an old
// checkpoint is overwritten while its index is there.
[[nodiscard]] std::string part_name(const std::string& path, std::string_view kind,
                                    std::size_t part, std::size_t parts);
[[nodiscard]] std::string beside_file(const std::string& path, const std::string& name);

}  // namespace mtf

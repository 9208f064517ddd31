#include "tests/fuzz/corpus.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fuzz {
namespace {

// Its numbers differ, as it sums what cancels: so would those of all its mutants.
constexpr const char* kCancelled = "fail_cancelled";

namespace fs = std::filesystem;

constexpr std::array kFolders = {"examples", "stdlib", "tests/golden"};
constexpr std::array kPages = {"README.md", "grammar/LANGUAGE.md", "examples/parallel/README.md"};

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// The directives `# args: …` that start no ranks.
std::vector<std::vector<std::string>> args_of(const std::string& text) {
  constexpr std::string_view kPrefix = "# args: ";
  std::vector<std::vector<std::string>> args;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> words =
        line.starts_with(kPrefix) ? words_of(line.substr(kPrefix.size())) : words_of("");
    const bool is_alone = std::ranges::none_of(
        words, [](const std::string& word) { return word == "-n" || word == "--trace"; });
    if (!words.empty() && is_alone) {
      args.push_back(std::move(words));
    }
  }
  return args;
}

// The bodies of the blocks ```mtf.
void add_page(const fs::path& root, const std::string& page, std::vector<Seed>& seeds) {
  std::istringstream stream(read_text(root / page));
  std::string body;
  bool is_program = false;
  bool is_right = false;
  for (std::string line; std::getline(stream, line);) {
    if (is_program && line.starts_with("```")) {
      seeds.push_back(
          {.name = page, .folder = "pages", .text = body, .args = {}, .is_right = is_right});
      is_program = false;
    } else if (line.starts_with("```mtf")) {
      is_program = true;
      is_right = line == "```mtf";
      body.clear();
    } else if (is_program) {
      body += line + "\n";
    }
  }
}

}  // namespace

std::vector<Seed> read_corpus(const fs::path& root) {
  std::vector<fs::path> paths;
  for (const char* folder : kFolders) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".mtf" && entry.path().stem() != kCancelled) {
        paths.push_back(entry.path().lexically_relative(root));
      }
    }
  }
  std::ranges::sort(paths);
  std::vector<Seed> seeds;
  for (const fs::path& path : paths) {
    std::string text = read_text(root / path);
    std::vector<std::vector<std::string>> args = args_of(text);
    seeds.push_back({.name = path.string(),
                     .folder = path.parent_path(),
                     .text = std::move(text),
                     .args = std::move(args),
                     .is_right = !path.filename().string().starts_with("fail_")});
  }
  for (const char* page : kPages) {
    add_page(root, page, seeds);
  }
  return seeds;
}

void copy_tree(const fs::path& root, const fs::path& scratch) {
  for (const char* folder : kFolders) {
    fs::create_directories(scratch / folder);
    fs::copy(root / folder, scratch / folder,
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  fs::create_directories(scratch / "pages");
}

}  // namespace fuzz

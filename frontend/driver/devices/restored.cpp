#include "frontend/driver/devices/restored.h"

#include <algorithm>
#include <vector>

#include "frontend/elaborate/report.h"
#include "frontend/report/quantity.h"
#include "stdlib/ops/source/sizes.h"

namespace mtf {
namespace {

constexpr std::size_t kMostNotes = 10;
constexpr std::size_t kMostNames = 3;

std::string sizes_text(const FileTensor& tensor, const std::vector<std::string>* dims) {
  std::string text;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    const std::string name = dims != nullptr && i < dims->size() ? (*dims)[i] + " " : "";
    text += (text.empty() ? "" : ", ") + name + std::to_string(tensor.sizes[i]);
  }
  const std::optional<StoredType> stored = stored_type(tensor.dtype);
  const bool is_ours = stored && !stored->is_unsigned;
  return (is_ours ? std::string(to_string(stored->dtype)) : tensor.dtype) + "[" + text + "]";
}

const std::vector<std::string>* dims_of(const CheckpointFile& file, const std::string& name) {
  if (!file.notes()) {
    return nullptr;
  }
  const auto found = file.notes()->dims.find(name);
  return found == file.notes()->dims.end() ? nullptr : &found->second;
}

// A dim may have been renamed since; one that stands at another place has not.
bool has_same_dims(const Shape& shape, const FileTensor& tensor,
                   const std::vector<std::string>* dims) {
  if (shape.rank() != tensor.sizes.size()) {
    return false;
  }
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i].size != tensor.sizes[i]) {
      return false;
    }
    if (dims == nullptr || i >= dims->size() || (*dims)[i] == shape[i].name) {
      continue;
    }
    if (std::ranges::find(*dims, shape[i].name) != dims->end()) {
      return false;
    }
  }
  return true;
}

// Whether every number of the one is one of the other.
bool widens(DType from, DType to) {
  if (from == to) {
    return true;
  }
  if (is_float(from) && is_float(to)) {
    return to == DType::kF64 || (to == DType::kF32 && is_narrow(from));
  }
  const bool are_integers = is_integer(from) && is_integer(to);
  return are_integers && bytes_of(from) < bytes_of(to) && to != DType::kU8;
}

// "" or why the variable cannot have what the file has.
std::string misfit(const RestoreRequest& request, const CheckpointFile& file,
                   const Variable& variable) {
  const std::string name = request.in_file(variable.path);
  const FileTensor& tensor = *file.find(name);
  const std::vector<std::string>* dims = dims_of(file, name);
  std::string is = in_backticks(variable.path) + " is " + to_string(variable.type) + ", and " +
                   sizes_text(tensor, dims) + " in the file";
  const std::optional<StoredType> stored = stored_type(tensor.dtype);
  if (!has_same_dims(variable.type.shape, tensor, dims)) {
    const std::optional<Shape> turned =
        dims == nullptr ? ops::in_order_of(tensor.sizes, variable.type.shape) : std::nullopt;
    return is + (turned ? "; in its order the dims are " + to_string(*turned) : "");
  }
  if (!stored) {
    return is + "; what can be read is " + std::string(dtype_names()) + ", and unsigned integers";
  }
  if (request.cast || widens(stored->dtype, variable.type.dtype)) {
    return "";
  }
  return is + "; `restore …, cast = true` converts it, and may lose digits";
}

std::set<std::string> paths_of(std::span<const Variable> variables) {
  std::set<std::string> paths;
  for (const Variable& variable : variables) {
    paths.insert(variable.path);
  }
  return paths;
}

// Whether it belongs to another tensor of the file, as `net/w/adam/m` to `net/w`.
bool is_below_another(const CheckpointFile& file, const std::string& name) {
  for (std::size_t end = name.rfind('/'); end != std::string::npos && end > 0;
       end = name.rfind('/', end - 1)) {
    if (file.find(name.substr(0, end)) != nullptr) {
      return true;
    }
  }
  return false;
}

// What the file has, and no variable takes. First what stands for itself: where not all are named,
// a layer that was renamed is found among these, and not among what optimizers keep.
std::vector<std::string> left_over(const RestoreRequest& request, const CheckpointFile& file,
                                   std::span<const Variable> variables) {
  const std::set<std::string> known = paths_of(variables);
  std::vector<std::string> names = file.names();
  std::erase_if(names, [&](const std::string& name) {
    const std::vector<std::string> takers = request.takers_of(name);
    return takers.empty() || std::ranges::any_of(takers, [&](const std::string& taker) {
             return known.contains(taker);
           });
  });
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return !is_below_another(file, name); });
  return names;
}

// The same of what the request names; where that is nothing, the file may call all of it otherwise.
std::vector<std::string> not_taken(const RestoreRequest& request, const CheckpointFile& file,
                                   std::span<const Variable> variables) {
  std::vector<std::string> names = left_over(request, file, variables);
  const RestoreRequest all{.path = {}, .globs = {}, .sources = {}, .span = {}};
  return names.empty() ? left_over(all, file, {}) : names;
}

std::string shortened(std::vector<std::string> names) {
  const std::size_t all = names.size();
  if (all <= kMostNames + 1) {
    return host::quoted_list(names);
  }
  names.resize(kMostNames);
  std::string text;
  for (const std::string& name : names) {
    text += in_backticks(name) + ", ";
  }
  return text + "and " + std::to_string(all - kMostNames) + " more";
}

std::string counted(std::size_t count, std::string_view what) {
  return count_text(static_cast<std::int64_t>(count), what);
}

std::string not_in_file(const std::string& name, const std::string& variable) {
  return in_backticks(name) + (name == variable ? "" : ", for " + in_backticks(variable) + ",") +
         " is not in the file";
}

// `instead`: what the file has for params whose names are not like any of them.
void report_misfits(const RestoreRequest& request, std::vector<Note> missing,
                    const std::vector<Note>& others, const std::vector<std::string>& instead,
                    DiagSink& diags) {
  std::vector<std::string> kinds;
  if (!missing.empty()) {
    kinds.push_back(counted(missing.size(), "param") + " missing");
  }
  if (!others.empty()) {
    kinds.push_back(counted(others.size(), "tensor") + " of another type");
  }
  std::string text =
      in_backticks(request.path) + " does not fit this program: " + joined(kinds, ", ");
  if (others.empty() && request.globs.empty()) {
    text += "; `restore … as \"part/*\"` takes a part of it";
  } else if (others.empty() && request.sources.empty()) {
    text += "; `from = \"…\"` behind `as` says what the file calls them";
  }
  std::vector<Note> notes = std::move(missing);
  notes.insert(notes.end(), others.begin(), others.end());
  if (notes.size() > kMostNotes) {
    const std::size_t more = notes.size() - kMostNotes;
    notes.resize(kMostNotes);
    notes.push_back({.span = {}, .text = "and " + std::to_string(more) + " more"});
  }
  if (!instead.empty()) {
    notes.push_back({.span = {}, .text = "the file has " + shortened(instead)});
  }
  diags.error(DiagKind::kFile, request.span, std::move(text), std::move(notes));
}

// States that the request names, and the file does not have.
std::vector<std::string> lacking(const RestoreRequest& request, const CheckpointFile& file,
                                 std::span<const Variable> variables) {
  std::vector<std::string> paths;
  for (const Variable& variable : variables) {
    if (request.names(variable.path) && !has_value_for(request, file, variable.path)) {
      paths.push_back(variable.path);
    }
  }
  return paths;
}

std::string lacks_text(const std::vector<std::string>& states) {
  return " lacks " + counted(states.size(), "state") + ", which " +
         (states.size() == 1 ? "begins" : "begin") + " as declared: " + shortened(states);
}

// What a glob that names none of these variables may have meant; "".
std::string meant_by(const std::string& glob, const std::set<std::string>& paths) {
  std::vector<std::string> known(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    const std::size_t end = path.rfind('/');
    known.push_back(end == std::string::npos ? path : path.substr(0, end) + "/*");
  }
  return host::suggest(glob, known).text;
}

}  // namespace

Diag unreadable(const RestoreRequest& request, const std::string& problem) {
  Diag diag{.kind = DiagKind::kFile,
            .span = request.span,
            .text = in_backticks(request.path) + " " + problem};
  const std::string other = newest_whole(request.path);
  if (!other.empty()) {
    diag.notes.push_back(
        {.span = {}, .text = "the newest whole one beside it is " + in_backticks(other)});
  }
  return diag;
}

std::optional<std::string> note_in(const RestoreRequest& request, const std::string& place,
                                   bool may_be_missing, DiagSink& diags) {
  const CheckpointFile file(place);
  if (file.is_missing() && may_be_missing) {
    return std::nullopt;
  }
  if (!file.problem().empty()) {
    diags.add(unreadable(request, file.problem()));
    return std::nullopt;
  }
  if (!file.notes() || file.notes()->note.empty()) {
    diags.error(DiagKind::kFile, request.span,
                in_backticks(request.path) +
                    " has no note; `save PATH, note = TEXT` keeps one beside the variables");
    return std::nullopt;
  }
  return file.notes()->note;
}

bool has_value_for(const RestoreRequest& request, const CheckpointFile& file,
                   const std::string& variable) {
  return request.names(variable) && file.find(request.in_file(variable)) != nullptr;
}

bool compare(const RestoreRequest& request, const CheckpointFile& file,
             std::span<const Variable> variables, DiagSink& diags) {
  std::vector<Note> missing;
  std::vector<Note> others;
  const std::vector<std::string> free = not_taken(request, file, variables);
  bool are_alike = true;
  for (const Variable& variable : variables) {
    if (!request.names(variable.path)) {
      continue;
    }
    const std::string name = request.in_file(variable.path);
    const bool is_there = file.find(name) != nullptr;
    std::string text = is_there ? misfit(request, file, variable) : "";
    if (!is_there && variable.trained) {
      const std::string meant = host::suggest(name, free).text;
      are_alike = are_alike && !meant.empty();
      missing.push_back({.span = variable.span, .text = not_in_file(name, variable.path) + meant});
    } else if (!text.empty()) {
      others.push_back({.span = variable.span, .text = std::move(text)});
    }
  }
  if (missing.empty() && others.empty()) {
    return true;
  }
  report_misfits(request, std::move(missing), others, are_alike ? std::vector<std::string>() : free,
                 diags);
  return false;
}

bool globs_are_known(const RestoreRequest& request, std::span<const Variable> variables,
                     bool failed, DiagSink& diags) {
  const std::set<std::string> paths = paths_of(variables);
  for (const std::string& glob : request.globs) {
    const RestoreRequest one{.path = {}, .globs = {glob}, .cast = false, .span = {}};
    if (std::ranges::any_of(paths, [&](const std::string& path) { return one.names(path); })) {
      continue;
    }
    const std::string meant = meant_by(glob, paths);
    if (failed && meant.empty()) {
      continue;
    }
    const std::string all = shortened({paths.begin(), paths.end()});
    diags.error(DiagKind::kUnknownName, request.span,
                paths.empty() ? "`restore` in a program that has no variables"
                              : "no variable is called " + in_backticks(glob) +
                                    (meant.empty() ? "; there are " + all : meant));
    return false;
  }
  return true;
}

void warn_of_others(const RestoreRequest& request, const CheckpointFile& file,
                    std::span<const Variable> variables, DiagSink& diags) {
  const std::vector<std::string> fresh = lacking(request, file, variables);
  const std::vector<std::string> unused = left_over(request, file, variables);
  std::vector<std::string> texts;
  if (!fresh.empty()) {
    texts.push_back(lacks_text(fresh));
  }
  if (!unused.empty()) {
    texts.push_back(" has " + counted(unused.size(), "tensor") +
                    " that no variable takes: " + shortened(unused));
  }
  if (!texts.empty()) {
    diags.warning(DiagKind::kFile, request.span,
                  in_backticks(request.path) + joined(texts, "; it"));
  }
}

void warn_of_nothing(const RestoreRequest& request, const CheckpointFile& file,
                     std::span<const Variable> variables, DiagSink& diags) {
  const std::vector<std::string> fresh = lacking(request, file, variables);
  const std::vector<std::string> names = file.names();
  const bool has_some = std::ranges::any_of(
      names, [&](const std::string& name) { return !request.takers_of(name).empty(); });
  if (!fresh.empty() || !has_some) {
    diags.warning(
        DiagKind::kFile, request.span,
        in_backticks(request.path) +
            (fresh.empty() ? " has nothing for " + shortened(request.globs) : lacks_text(fresh)));
  }
}

}  // namespace mtf

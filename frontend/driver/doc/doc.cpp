// `mtf doc`: the modules, one of them, or one function; a section of the language reference.

#include <algorithm>
#include <filesystem>

#include "frontend/driver/commands.h"
#include "frontend/driver/doc/language.h"
#include "frontend/driver/doc/pages.h"
#include "frontend/driver/doc/site.h"
#include "frontend/driver/workspace.h"
#include "frontend/report/json_parts.h"
#include "ir/support/columns.h"

namespace mtf {
namespace {

Json page_json(const ModuleDoc& doc, const DocPage& page) {
  return {{"name", page.name},       {"signature", page.signature},
          {"purpose", page.purpose}, {"text", page.text},
          {"group", page.group},     {"example", whole_example(doc, page)}};
}

Json module_json(const ModuleDoc& doc) {
  Json pages = Json::array();
  for (const DocPage& page : doc.pages) {
    pages.push_back(page_json(doc, page));
  }
  return {{"name", doc.name}, {"purpose", doc.purpose}, {"text", doc.text}, {"contents", pages}};
}

std::string indented_lines(std::string_view text) {
  std::string result;
  for (const std::string_view line : lines_of(text)) {
    result += (line.empty() ? "" : "  ") + std::string(line) + "\n";
  }
  return result;
}

std::string list_text(std::span<const ModuleDoc> docs) {
  std::vector<Row> rows;
  for (const ModuleDoc& doc : docs) {
    rows.push_back({doc.name, doc.purpose});
  }
  rows.push_back({std::string(kLanguagePage),
                  "The language itself, by sections: `mtf doc language layouts` shows one"});
  return in_columns(rows, {.indent = 0});
}

std::string module_text(const ModuleDoc& doc) {
  std::string text = doc.name + "\n" + indented_lines(doc.text);
  std::vector<Row> rows;
  std::string group;
  for (const DocPage& page : doc.pages) {
    if (page.group != group) {
      rows.insert(rows.end(), {{}, {page.group}});
      group = page.group;
    } else if (rows.empty()) {
      rows.emplace_back();
    }
    rows.push_back({"  " + page.name, page.purpose});
  }
  return text + in_columns(rows, {.indent = 0});
}

std::string page_text(const ModuleDoc& doc, const DocPage& page) {
  const std::string example = whole_example(doc, page);
  return page.signature + "\n" + indented_lines(page.text) +
         (example.empty() ? "" : "\nexample\n" + indented_lines(example));
}

Outcome unknown(Workspace& workspace, const std::string& text) {
  workspace.remarks.push_back({.slug = "usage", .text = text});
  return {.status = kUsageError, .message = "mtf: " + text + "\n"};
}

Outcome answer(Workspace& workspace, const Json& json, const std::string& text) {
  if (workspace.options.json) {
    workspace.answers.push_back(dump(json));
  } else {
    say(workspace, text);
  }
  return {};
}

Outcome tell(Workspace& workspace, const ModuleDoc& doc, const std::string& name) {
  if (name.empty()) {
    return answer(workspace, {{"modules", Json::array({module_json(doc)})}}, module_text(doc));
  }
  const DocPage* page = find_page(doc, name);
  if (page == nullptr) {
    return unknown(workspace, "no page of `" + doc.name + "." + name + "`" +
                                  did_you_mean(name, names_of(doc.pages),
                                               "; `mtf doc " + doc.name + "` lists what there is"));
  }
  return answer(workspace, page_json(doc, *page), page_text(doc, *page));
}

// `lib/mine.mtf`, to be imported by that path.
Outcome tell_file(Workspace& workspace) {
  Options& options = workspace.options;
  options.file = options.name;
  const std::optional<FileId> file = read_program(workspace);
  const std::optional<ast::File> tree =
      file ? parse_program(workspace, *file, workspace.diags) : std::nullopt;
  if (!tree) {
    return outcome_of(workspace, workspace.diags);
  }
  ModuleDoc doc =
      module_doc(std::filesystem::path(options.file).stem().string(), *tree, workspace.sources);
  doc.path = options.file;
  return tell(workspace, doc, options.value);
}

Outcome list_modules(Workspace& workspace) {
  const std::vector<ModuleDoc> docs = library_docs();
  Json modules = Json::array();
  for (const ModuleDoc& doc : docs) {
    modules.push_back(module_json(doc));
  }
  return answer(workspace, {{"modules", modules}}, list_text(docs));
}

// Where to look for what is no module.
std::string elsewhere(std::span<const ModuleDoc> docs, const std::string& word) {
  if (std::string page = where_explained(docs, word); !page.empty()) {
    return page;
  }
  return did_you_mean(word, names_of(docs),
                      "; `mtf doc` lists them, and a file is `" + word + ".mtf`");
}

Json section_json(std::span<const Heading> sections, const Heading& section) {
  return {{"title", section.text},
          {"text", section.below},
          {"parts", Json(parts_of(sections, section))}};
}

Outcome list_sections(Workspace& workspace, std::span<const Heading> sections) {
  Json all = Json::array();
  std::string text =
      "The mtf language; `mtf doc language NAME` shows the section of that name, "
      "or of a keyword\n\n";
  for (const Heading& one : sections) {
    all.push_back(section_json(sections, one));
    text += (one.level > 2 ? "    " : "  ") + one.text + "\n";
  }
  return answer(workspace, {{"sections", all}}, text);
}

// `mtf doc language`, or a section of it: by its title, a word of that or a keyword.
Outcome tell_language(Workspace& workspace, const std::string& asked) {
  const std::vector<Heading> sections = language_sections();
  if (asked.empty()) {
    return list_sections(workspace, sections);
  }
  const Heading* found = find_section(sections, asked);
  if (found == nullptr) {
    return unknown(workspace, "no section of the language is about `" + asked + "`" +
                                  did_you_mean(asked, names_of(language_words()),
                                               "; `mtf doc language` lists them"));
  }
  std::string text = found->text + "\n\n" + section_text(*found);
  for (const std::string_view part : parts_of(sections, *found)) {
    text += "\n`mtf doc language \"" + std::string(part) + "\"`";
  }
  return answer(workspace, section_json(sections, *found),
                text.ends_with('\n') ? text : text + "\n");
}

// `nn`, `nn.dense` or `nn dense`; `language`.
Outcome tell_module(Workspace& workspace) {
  const std::string& word = workspace.options.name;
  const std::size_t dot = std::min(word.find('.'), word.size());
  const std::string module = word.substr(0, dot);
  const std::string name =
      dot < word.size() ? word.substr(dot + 1) : std::string(workspace.options.value);
  if (module == kLanguagePage) {
    return tell_language(workspace, name);
  }
  const std::vector<ModuleDoc> docs = library_docs();
  const auto found = std::ranges::find(docs, module, &ModuleDoc::name);
  if (found != docs.end()) {
    return tell(workspace, *found, name);
  }
  return unknown(workspace, "no module `" + module + "`" + elsewhere(docs, module));
}

Outcome doc_outcome(Workspace& workspace) {
  const Options& options = workspace.options;
  if (!options.html.empty()) {
    write_site(workspace, options.html);
    return outcome_of(workspace, workspace.diags);
  }
  if (options.name.empty()) {
    return list_modules(workspace);
  }
  const bool is_file = options.name == "-" || options.name.ends_with(".mtf") ||
                       options.name.find('/') != std::string::npos;
  return is_file ? tell_file(workspace) : tell_module(workspace);
}

}  // namespace

int doc_command(const Options& options) {
  if (!options.html.empty() && !options.name.empty()) {
    return show_usage_error(
        "doc: `--html` writes all pages; it goes with no `" + options.name + "`", options.json);
  }
  return run_alone(options, doc_outcome);
}

}  // namespace mtf

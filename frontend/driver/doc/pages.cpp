#include "frontend/driver/doc/pages.h"

#include <algorithm>
#include <cctype>

#include "frontend/driver/doc/language.h"
#include "frontend/driver/ops/ops_forms.h"
#include "frontend/driver/stdlib_modules.h"
#include "frontend/parse/parse.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

constexpr std::string_view kRule = "----";
constexpr std::string_view kExample = "Example:";

// "# text" as "text"; the blanks of an example's lines stay.
std::string_view uncommented(std::string_view line) {
  line.remove_prefix(1);
  line.remove_prefix(line.starts_with(' ') ? 1 : 0);
  return line;
}

bool is_comment(std::string_view line) {
  return line.starts_with('#');
}

// "# ---- layers ----…": the group that it begins, or nothing.
std::string group_of(std::string_view line) {
  const std::string_view text = is_comment(line) ? uncommented(line) : std::string_view();
  if (!text.starts_with(kRule)) {
    return "";
  }
  const std::size_t begin = text.find_first_not_of("- ");
  if (begin == std::string_view::npos) {
    return "";
  }
  const std::size_t end = text.find_last_not_of("- ") + 1;
  return std::string(text.substr(begin, end - begin));
}

// Up to its full stop, which "et al." is not, nor a dim's `..`.
std::string first_sentence(std::string_view text) {
  for (std::size_t at = text.find(". "); at != std::string_view::npos;
       at = text.find(". ", at + 1)) {
    const std::string_view before = text.substr(0, at);
    const bool goes_on = before.ends_with(" al") || before.ends_with('.') ||
                         before.ends_with(" e.g") || before.ends_with(" i.e");
    if (!goes_on) {
      return std::string(text.substr(0, at));
    }
  }
  const bool stops = text.ends_with('.') && !text.ends_with("..");
  return std::string(text.substr(0, text.size() - (stops ? 1 : 0)));
}

struct CommentText {
  std::string purpose;
  std::string text;
  std::string example;
};

CommentText read_comment(std::span<const std::string_view> lines) {
  CommentText result;
  bool in_example = false;
  for (const std::string_view line : lines) {
    const std::string_view text = uncommented(line);
    if (text == kExample) {
      in_example = true;
    } else if (in_example && (text.starts_with(' ') || text.empty())) {
      result.example += std::string(text.substr(std::min<std::size_t>(2, text.size()))) + "\n";
    } else {
      in_example = false;
      result.text += std::string(text) + "\n";
    }
  }
  while (result.text.ends_with('\n')) {
    result.text.pop_back();
  }
  std::string first = result.text.substr(0, result.text.find("\n\n"));
  std::ranges::replace(first, '\n', ' ');
  result.purpose = first_sentence(first);
  return result;
}

// Behind `fn`, up to its `{`; lines that go on stay under the first argument.
std::string signature_of(const ModuleDoc& doc, const ast::Fn& fn, std::string_view source) {
  std::string_view head =
      source.substr(fn.name.span.begin, fn.body.span.begin - fn.name.span.begin);
  head = head.substr(0, head.find_last_not_of(" \n") + 1);
  const std::string before = fn.is_model ? "model " : "fn ";
  std::string result = doc.name + ".";
  const std::size_t moved = result.size();
  bool first = true;
  for (std::string_view line : lines_of(head)) {
    if (!first) {
      const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
      line.remove_prefix(blanks);
      result += "\n" + std::string(blanks + moved - std::min(before.size(), blanks + moved), ' ');
    }
    result += line;
    first = false;
  }
  return result;
}

// "schedules.cosine" of `let cosine = schedules.cosine`; "" of any other statement.
std::string member_bound(const ast::Stmt& statement) {
  const auto* binding = std::get_if<ast::Binding>(&statement.node);
  const auto* value =
      binding == nullptr ? nullptr : std::get_if<ast::Postfix>(&binding->value.node);
  if (value == nullptr || value->suffixes.size() != 1) {
    return "";
  }
  const auto* module = std::get_if<ast::NameRef>(&value->base->node);
  const auto* member = std::get_if<ast::Member>(&value->suffixes.front().node);
  return module == nullptr || member == nullptr ? "" : module->text + "." + member->name.text;
}

class PageReader {
 public:
  PageReader(ModuleDoc& doc, std::string_view source) : doc_(doc), source_(source) {
    lines_ = lines_of(source);
  }

  void head() {
    std::size_t end = 0;
    while (end < lines_.size() && is_comment(lines_[end])) {
      ++end;
    }
    const bool above_statement = end < lines_.size() && !lines_[end].empty();
    if (above_statement && !lines_[end].starts_with("import")) {
      return;  // it is about that
    }
    CommentText text = read_comment(std::span(lines_).first(end));
    doc_.purpose = std::move(text.purpose);
    doc_.text = std::move(text.text);
  }

  void statement(const ast::Stmt& statement) {
    const auto line = static_cast<std::size_t>(
        std::count(source_.begin(), source_.begin() + statement.span.begin, '\n'));
    std::size_t begin = line;
    while (begin > passed_ && is_comment(lines_[begin - 1]) &&
           group_of(lines_[begin - 1]).empty()) {
      --begin;
    }
    for (; passed_ < line; ++passed_) {
      const std::string group = group_of(lines_[passed_]);
      group_ = group.empty() ? group_ : group;
    }
    const std::span<const std::string_view> comment =
        std::span(lines_).subspan(begin, line - begin);
    const auto* fn = std::get_if<ast::Fn>(&statement.node);
    const auto* binding = std::get_if<ast::Binding>(&statement.node);
    const std::string of = comment.empty() ? member_bound(statement) : "";
    if (comment.empty() && of.empty()) {
      return;
    }
    if (fn != nullptr) {
      add(fn->name.text, signature_of(doc_, *fn, source_), comment);
    } else if (binding != nullptr) {
      const std::string& name = binding->names.front().text;
      add(name, doc_.name + "." + name, comment);
      doc_.pages.back().of = of;
    }
  }

 private:
  void add(const std::string& name, std::string signature,
           std::span<const std::string_view> comment) {
    CommentText text = read_comment(comment);
    doc_.pages.push_back({.name = name,
                          .signature = std::move(signature),
                          .purpose = std::move(text.purpose),
                          .text = std::move(text.text),
                          .example = std::move(text.example),
                          .group = group_});
  }

  ModuleDoc& doc_;
  std::string_view source_;
  std::vector<std::string_view> lines_;
  std::size_t passed_ = 0;  // lines
  std::string group_;
};

ModuleDoc read_module(std::string name, const ast::File& tree, const SourceMap& sources) {
  ModuleDoc doc{.name = std::move(name), .path = {}, .purpose = {}, .text = {}, .pages = {}};
  PageReader reader(doc, sources.file(tree.id).text);
  reader.head();
  for (const ast::Stmt& statement : tree.statements) {
    reader.statement(statement);
  }
  return doc;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

const DocPage* page_of(std::span<const ModuleDoc> docs, std::string_view name) {
  const std::size_t dot = name.find('.');
  const auto doc = std::ranges::find(docs, name.substr(0, dot), &ModuleDoc::name);
  return doc == docs.end() ? nullptr : find_page(*doc, name.substr(dot + 1));
}

// Lines that go on stay under the first argument.
std::string renamed(const std::string& signature, const std::string& from, const std::string& to) {
  const std::string name_and_more = to + signature.substr(from.size());
  const std::string blanks(std::max(from.size(), to.size()), ' ');
  return to.size() < from.size() ? replaced(name_and_more, "\n" + blanks.substr(to.size()), "\n")
                                 : replaced(name_and_more, "\n", "\n" + blanks.substr(from.size()));
}

// A page under a name of another module: what it says of itself names that one.
DocPage under(const ModuleDoc& doc, const DocPage& page, const DocPage& said) {
  const std::string name = doc.name + "." + page.name;
  return {.name = page.name,
          .signature = renamed(said.signature, page.of, name),
          .purpose = said.purpose,
          .text = said.text,
          .example = replaced(said.example, page.of, name),
          .group = page.group};
}

// What is bound to what no module has a page of has none.
void follow_names(ModuleDoc& doc, std::span<const ModuleDoc> docs) {
  std::erase_if(doc.pages, [&](const DocPage& page) {
    return !page.of.empty() && page_of(docs, page.of) == nullptr;
  });
  for (DocPage& page : doc.pages) {
    if (!page.of.empty()) {
      page = under(doc, page, *page_of(docs, page.of));
    }
  }
}

}  // namespace

ModuleDoc module_doc(std::string name, const ast::File& tree, const SourceMap& sources) {
  ModuleDoc doc = read_module(std::move(name), tree, sources);
  const bool refers =
      std::ranges::any_of(doc.pages, [](const auto& page) { return page.of != ""; });
  if (refers) {
    follow_names(doc, library_docs());
  }
  return doc;
}

std::vector<ModuleDoc> library_docs() {
  std::vector<ModuleDoc> docs;
  for (const std::string_view name : stdlib_module_names()) {
    SourceMap sources;
    DiagSink mistakes;  // of the library: its tests find them
    const FileId file = sources.add(
        {.name = std::string(name) + ".mtf", .path = "", .text = std::string(stdlib_module(name))});
    if (const std::optional<ast::File> tree = parse(file, sources, mistakes)) {
      docs.push_back(read_module(std::string(name), *tree, sources));
    }
  }
  for (ModuleDoc& doc : docs) {
    follow_names(doc, docs);
  }
  std::ranges::sort(docs, {}, &ModuleDoc::name);
  return docs;
}

const DocPage* find_page(const ModuleDoc& doc, std::string_view name) {
  const auto found = std::ranges::find(doc.pages, name, &DocPage::name);
  return found == doc.pages.end() ? nullptr : &*found;
}

std::string command_hint(std::string_view name) {
  const std::string page = page_command(name);
  return page.empty() ? "" : "; `mtf " + page + "` explains it";
}

std::string where_explained(std::span<const ModuleDoc> docs, std::string_view name) {
  const auto found = std::ranges::find_if(
      docs, [&](const ModuleDoc& doc) { return find_page(doc, name) != nullptr; });
  if (found == docs.end()) {
    return command_hint(name);
  }
  const std::string page = found->name + "." + std::string(name);
  return "; there is `" + page + "`, which `mtf doc " + page + "` explains";
}

std::vector<std::string> explained_names() {
  std::vector<std::string> names = names_of(language_forms());
  for (const OpDef* op : op_table()) {
    names.emplace_back(op->name);
  }
  for (const LanguageWord& word : language_words()) {
    names.emplace_back(word.name);
  }
  for (const ModuleDoc& doc : library_docs()) {
    names.push_back(doc.name);
    for (const DocPage& page : doc.pages) {
      names.push_back(doc.name + "." + page.name);
    }
  }
  return names;
}

std::string page_command(std::string_view name) {
  const std::string_view module = name.substr(0, name.find('.'));
  const auto modules = stdlib_module_names();
  if (std::ranges::find(modules, module) == modules.end()) {
    const bool is_form =
        std::ranges::find(language_forms(), name, &LanguageForm::name) != language_forms().end();
    if (is_form || find_op(op_table(), name) != nullptr) {
      return "ops " + std::string(name);
    }
    std::string page = "doc " + std::string(kLanguagePage);
    if (name == kLanguagePage) {
      return page;
    }
    return section_of_word(name) ? page + " " + std::string(name) : "";
  }
  const std::vector<std::string> names = explained_names();
  return std::ranges::find(names, name) == names.end() ? "" : "doc " + std::string(name);
}

std::string whole_example(const ModuleDoc& doc, const DocPage& page) {
  if (page.example.empty()) {
    return "";
  }
  const std::string module = doc.path.empty() ? doc.name : "\"" + doc.path + "\" as " + doc.name;
  return "import " + module + "\n" + page.example;
}

}  // namespace mtf

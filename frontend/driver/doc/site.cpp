#include "frontend/driver/doc/site.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "frontend/driver/doc/markdown.h"
#include "frontend/driver/doc/pages.h"
#include "frontend/driver/ops/ops_facts.h"
#include "frontend/driver/ops/ops_forms.h"
#include "frontend/driver/stdlib_modules.h"
#include "frontend/report/html.h"
#include "frontend/report/json_parts.h"
#include "ir/support/file.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

std::string code_block(std::string_view text) {
  return text.empty() ? "" : "<pre><code>" + escaped_html(text) + "</code></pre>\n";
}

std::string linked(const std::string& where, const std::string& text) {
  return "<a href=\"" + escaped_html(where) + "\">" + escaped_html(text) + "</a>";
}

constexpr std::string_view kPageOpening =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"generator\" content=\"mtf doc\">\n";
constexpr std::string_view kIndexOpening = "const INDEX = ";

class Site {
 public:
  Site(Workspace& workspace, std::string folder)
      : workspace_(workspace), folder_(std::move(folder)), docs_(library_docs()) {}

  void write() {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) {
      fail(folder_, error.message());
      return;
    }
    language();
    operations();
    for (const ModuleDoc& doc : docs_) {
      module(doc);
    }
    start();
    put("style.css", site_style());
    put("search.js",
        std::string(kIndexOpening) + dump(index_) + ";\n" + std::string(site_script()));
  }

 private:
  void fail(const std::string& path, const std::string& why) {
    if (workspace_.diags.ok()) {  // the others would say the same
      workspace_.diags.add(
          {.kind = DiagKind::kFile, .text = "`" + path + "` cannot be written: " + why});
    }
  }

  void put(const std::string& name, std::string_view text) {
    const std::string path = (std::filesystem::path(folder_) / name).string();
    const std::array openings = {kPageOpening, kIndexOpening,
                                 site_style().substr(0, site_style().find('\n'))};
    if (const std::string other = another_there(path, openings, "page of `mtf doc`");
        !other.empty()) {
      fail(path, other);
    }
    if (!workspace_.diags.ok()) {
      return;
    }
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
      fail(path, std::strerror(errno));
    }
  }

  void page(const std::string& name, const std::string& title, const std::string& body) {
    std::string text =
        std::string(kPageOpening) +
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
        escaped_html(title) +
        " · mtf</title>\n"
        "<link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>\n<header>\n"
        "<a href=\"index.html\"><strong>mtf</strong></a>\n"
        "<a href=\"language.html\">Language</a>\n"
        "<a href=\"operations.html\">Operations</a>\n"
        "<a href=\"index.html#library\">Library</a>\n"
        "<input id=\"search\" type=\"search\" placeholder=\"Search (press /)\" "
        "aria-label=\"Search\" autocomplete=\"off\">\n</header>\n"
        "<ul id=\"found\" aria-live=\"polite\"></ul>\n<main>\n" +
        body + "</main>\n<script src=\"search.js\"></script>\n</body>\n</html>\n";
    put(name, text);
  }

  void find_by(const std::string& title, const std::string& where, const std::string& text) {
    index_.push_back(Json::array({title, where, text}));
  }

  void language() {
    const HtmlText text = html_of_markdown(language_reference());
    std::string contents = "<nav><ul>\n";
    for (const Heading& heading : text.headings) {
      const std::string where = "#" + heading.anchor;
      find_by(heading.text, "language.html" + where, heading.below);
      contents += heading.level == 2 ? "<li>" + linked(where, heading.text) + "</li>\n" : "";
    }
    const std::size_t behind_title = text.html.find("</h1>") + 6;
    page("language.html", "Language",
         text.html.substr(0, behind_title) + contents + "</ul></nav>\n" +
             text.html.substr(behind_title));
  }

  // The element of an operation, and what the search finds it by.
  std::string entry(const std::string& name, const std::string& forms, const std::string& summary,
                    const std::string& details, std::string_view example) {
    find_by(name, "operations.html#" + name, summary + "\n" + forms);
    return "<section id=\"" + escaped_html(name) + "\">\n<h3><code>" + escaped_html(name) +
           "</code></h3>\n" + code_block(forms) + "<p>" + inline_html(summary) + "</p>\n" +
           details + "<p>Example</p>\n" + code_block(example) + "</section>\n";
  }

  std::string operation(const OpDef& op) {
    const OpFacts facts = facts_of(op);
    std::string forms;
    for (const std::string& form : facts.forms) {
      forms += form + "\n";
    }
    std::string rows;
    for (const OpParam& param : op.params) {
      rows += "<tr><td><code>" + escaped_html(param.name == "to" ? "->" : param.name) +
              "</code></td><td>" + escaped_html(kind_word(param)) +
              (param.required ? "" : ", optional") + "</td><td>" + inline_html(param.help) +
              "</td></tr>\n";
    }
    std::string details = rows.empty() ? "" : "<table>\n" + rows + "</table>\n";
    if (!facts.operator_form.empty()) {
      details += "<p>Also written <code>" + escaped_html(facts.operator_form) + "</code>.</p>\n";
    }
    details += "<p>Result: " + inline_html(op.shape_rule) + "</p>\n";
    return entry(std::string(op.name), forms, std::string(op.summary), details, op.example);
  }

  void operations() {
    std::vector<std::string_view> families;
    for (const OpDef* op : op_table()) {
      if (std::ranges::find(families, op->family) == families.end()) {
        families.push_back(op->family);
      }
    }
    std::string body = "<h1>Operations</h1>\n";
    for (const std::string_view family : families) {
      body += "<h2>" + escaped_html(family) + "</h2>\n";
      for (const OpDef* op : op_table()) {
        body += op->family == family ? operation(*op) : "";
      }
    }
    body += "<h2>Of the language</h2>\n";
    for (const LanguageForm& form : language_forms()) {
      body += entry(std::string(form.name), std::string(form.form), std::string(form.summary), "",
                    form.example);
    }
    page("operations.html", "Operations", body);
  }

  static std::string paragraphs(const std::string& text) { return html_of_markdown(text).html; }

  void module(const ModuleDoc& doc) {
    const std::string file = doc.name + ".html";
    find_by(doc.name, file, doc.text);
    std::string body = "<h1>" + escaped_html(doc.name) + "</h1>\n" + paragraphs(doc.text);
    std::string group;
    for (const DocPage& one : doc.pages) {
      if (one.group != group) {
        body += "<h2>" + escaped_html(one.group) + "</h2>\n";
        group = one.group;
      }
      const std::string full_name = doc.name + "." + one.name;
      find_by(full_name, file + "#" + one.name, one.signature + "\n" + one.text);
      const std::string example = whole_example(doc, one);
      body += "<section id=\"" + escaped_html(one.name) + "\">\n<h3><code>" +
              escaped_html(full_name) + "</code></h3>\n" + code_block(one.signature) +
              paragraphs(one.text) +
              (example.empty() ? "" : "<p>Example</p>\n" + code_block(example)) + "</section>\n";
    }
    page(file, doc.name, body);
  }

  void start() {
    std::string body =
        "<h1>mtf</h1>\n<p>A language for programs over tensors with named dims: what is computed "
        "is "
        "written once, layouts say which dim is split over which axis of a mesh.</p>\n<ul>\n<li>" +
        linked("language.html", "The language") + "</li>\n<li>" +
        linked("operations.html", "The operations") +
        "</li>\n</ul>\n<h2 id=\"library\">Library</h2>\n<table>\n";
    for (const ModuleDoc& doc : docs_) {
      body += "<tr><td>" + linked(doc.name + ".html", doc.name) + "</td><td>" +
              inline_html(doc.purpose) + "</td></tr>\n";
    }
    page("index.html", "Reference", body + "</table>\n");
  }

  Workspace& workspace_;
  std::string folder_;
  std::vector<ModuleDoc> docs_;
  Json index_ = Json::array();
};

}  // namespace

void write_site(Workspace& workspace, const std::string& folder) {
  Site(workspace, folder).write();
  if (workspace.diags.ok()) {
    say(workspace, "wrote " + (std::filesystem::path(folder) / "index.html").string() + "\n");
  }
}

}  // namespace mtf

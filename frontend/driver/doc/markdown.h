// Markdown as the project's pages have it: headings, paragraphs, lists, tables, code, links.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mtf {

struct Heading {
  int level = 1;
  std::string text;    // plain
  std::string anchor;  // of its element
  std::string below;   // the text up to the next heading, as it was written
};

struct HtmlText {
  std::string html;
  std::vector<Heading> headings;
};

[[nodiscard]] HtmlText html_of_markdown(std::string_view markdown);

// `code` and *emphasis* of one paragraph, and links.
[[nodiscard]] std::string inline_html(std::string_view text);

}  // namespace mtf

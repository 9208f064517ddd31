#include "frontend/driver/doc/markdown.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "frontend/report/html.h"
#include "ir/support/source.h"
#include "ir/support/text/trimmed.h"

namespace mtf {
namespace {

constexpr std::string_view kFence = "```";

// What `mark` encloses at the beginning of the text; nothing if it does not.
std::optional<std::string_view> enclosed(std::string_view text, std::string_view mark) {
  if (!text.starts_with(mark)) {
    return std::nullopt;
  }
  const std::size_t close = text.find(mark, mark.size());
  const bool any = close != std::string_view::npos && close > mark.size();
  return any ? std::optional(text.substr(mark.size(), close - mark.size())) : std::nullopt;
}

// [text](where): both, if the text begins with a link.
struct TextLink {
  std::string_view text;
  std::string_view where;
};

std::optional<TextLink> link_at(std::string_view text) {
  const std::size_t middle = text.find("](");
  const std::size_t close = text.find(')', std::min(middle, text.size()));
  if (!text.starts_with('[') || middle == std::string_view::npos ||
      close == std::string_view::npos ||
      text.substr(0, middle).find('\n') != std::string_view::npos) {
    return std::nullopt;
  }
  return TextLink{.text = text.substr(1, middle - 1),
                  .where = text.substr(middle + 2, close - middle - 2)};
}

class Converter {
 public:
  HtmlText run(std::string_view markdown) {
    lines_ = lines_of(markdown);
    while (at_ < lines_.size()) {
      const std::size_t begin = at_;
      const bool below = !lines_[at_].starts_with('#') && !result_.headings.empty();
      block();
      for (std::size_t i = begin; below && i < at_; ++i) {
        result_.headings.back().below += std::string(lines_[i]) + "\n";
      }
    }
    return std::move(result_);
  }

 private:
  void block() {
    const std::string_view line = lines_[at_];
    if (line.starts_with(kFence)) {
      code();
    } else if (line.starts_with('#')) {
      heading(line);
    } else if (line.starts_with('|')) {
      table();
    } else if (line.starts_with("- ")) {
      list();
    } else if (line.empty() || line.starts_with("<!--")) {
      ++at_;
    } else {
      add("<p>" + inline_html(paragraph()) + "</p>");
    }
  }

  void add(std::string_view html) {
    result_.html += html;
    result_.html += '\n';
  }

  void code() {
    const bool is_output = lines_[at_].starts_with("```output");
    std::string text;
    for (++at_; at_ < lines_.size() && !lines_[at_].starts_with(kFence); ++at_) {
      text += std::string(lines_[at_]) + "\n";
    }
    ++at_;
    add(std::string(is_output ? "<pre class=\"output\">" : "<pre>") + "<code>" +
        escaped_html(text) + "</code></pre>");
  }

  void heading(std::string_view line) {
    const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
    const std::string_view text = trimmed(line.substr(level), " ");
    const std::string tag = "h" + std::to_string(level);
    Heading found{
        .level = static_cast<int>(level), .text = plain(text), .anchor = anchor(text), .below = {}};
    add("<" + tag + " id=\"" + found.anchor + "\">" + inline_html(text) + "</" + tag + ">");
    result_.headings.push_back(std::move(found));
    ++at_;
  }

  static std::string plain(std::string_view text) {
    std::string result(text);
    std::erase(result, '`');
    return result;
  }

  std::string anchor(std::string_view text) {
    std::string id;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (std::isalnum(byte) != 0) {
        id += static_cast<char>(std::tolower(byte));
      } else if (!id.empty() && !id.ends_with('-')) {
        id += '-';
      }
    }
    id = id.ends_with('-') ? id.substr(0, id.size() - 1) : id;
    while (!anchors_.insert(id).second) {
      id += "-2";
    }
    return id;
  }

  [[nodiscard]] bool ends_paragraph() const {
    const std::string_view line = lines_[at_];
    return line.empty() || line.starts_with(kFence) || line.starts_with('#') ||
           line.starts_with('|') || line.starts_with("- ");
  }

  std::string paragraph() {
    std::string text(trimmed(lines_[at_], " "));
    for (++at_; at_ < lines_.size() && !ends_paragraph(); ++at_) {
      text += "\n" + std::string(trimmed(lines_[at_], " "));
    }
    return text;
  }

  void list() {
    add("<ul>");
    while (at_ < lines_.size() && lines_[at_].starts_with("- ")) {
      lines_[at_].remove_prefix(2);
      add("<li>" + inline_html(paragraph()) + "</li>");
    }
    add("</ul>");
  }

  void table() {
    add("<table>");
    bool first = true;
    for (; at_ < lines_.size() && lines_[at_].starts_with('|'); ++at_) {
      if (lines_[at_].find_first_not_of("|-: ") != std::string_view::npos) {
        row(lines_[at_], first ? "th" : "td");
      }
      first = false;
    }
    add("</table>");
  }

  void row(std::string_view line, const std::string& tag) {
    std::string html = "<tr>";
    line.remove_prefix(1);
    bool in_code = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      in_code = in_code != (line[i] == '`');
      const bool escaped = i > 0 && line[i - 1] == '\\';
      if (line[i] == '|' && !in_code && !escaped) {
        html += "<" + tag + ">" + inline_html(trimmed(line.substr(begin, i - begin), " ")) + "</" +
                tag + ">";
        begin = i + 1;
      }
    }
    add(html + "</tr>");
  }

  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
  HtmlText result_;
  std::set<std::string> anchors_;
};

}  // namespace

HtmlText html_of_markdown(std::string_view markdown) {
  return Converter().run(markdown);
}

std::string inline_html(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    std::size_t taken = 1;
    if (const auto code = enclosed(text, "`")) {
      html += "<code>" + escaped_html(*code) + "</code>";
      taken = code->size() + 2;
    } else if (const auto strong = enclosed(text, "**")) {
      html += "<strong>" + inline_html(*strong) + "</strong>";
      taken = strong->size() + 4;
    } else if (const auto soft = enclosed(text, "*"); soft && soft->front() != ' ') {
      html += "<em>" + inline_html(*soft) + "</em>";
      taken = soft->size() + 2;
    } else if (const auto link = link_at(text)) {
      const bool outside = link->where.starts_with("http");
      html += (outside ? "<a href=\"" + escaped_html(link->where) + "\">" : "") +
              inline_html(link->text) + (outside ? "</a>" : "");
      taken = link->text.size() + link->where.size() + 4;
    } else {
      html += escaped_html(text.substr(0, 1));
    }
    text.remove_prefix(taken);
  }
  return html;
}

}  // namespace mtf

#include "frontend/report/html.h"

namespace mtf {

std::string escaped_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:  // XML has no control characters, escaped or not
        result += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? "\xEF\xBF\xBD"
                                                                                : std::string(1, c);
    }
  }
  return result;
}

}  // namespace mtf

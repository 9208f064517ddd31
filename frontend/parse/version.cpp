#include <antlr4-runtime.h>

#include "frontend/parse/keywords.h"
#include "frontend/parse/parse.h"
#include "grammar/MtfLexer.h"

namespace mtf {

std::string antlr_version() {
  return antlr4::RuntimeMetaData::getRuntimeVersion();
}

std::vector<std::string> statement_words() {
  const MtfLexer lexer(nullptr);
  std::vector<std::string> words;
  for (std::size_t type = 0; type <= lexer.getVocabulary().getMaxTokenType(); ++type) {
    if (parsing::begins_statement(type)) {
      const std::string quoted = lexer.getVocabulary().getLiteralName(type);
      words.push_back(quoted.substr(1, quoted.size() - 2));
    }
  }
  return words;
}

}  // namespace mtf

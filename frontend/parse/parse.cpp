// The phases of parsing, one after the other; the only caller of the generated parser.

#include "frontend/parse/parse.h"

#include <algorithm>

#include "frontend/parse/build.h"
#include "frontend/parse/written.h"

namespace mtf {
namespace {

using parsing::Problems;
using parsing::Source;
using parsing::Token;

// Our tokens as the generated parser reads them, in one piece of memory.
class TokenFeed : public antlr4::TokenStream {
 public:
  explicit TokenFeed(std::span<const Token> tokens) {
    tokens_.reserve(tokens.size());
    for (const Token& token : tokens) {
      tokens_.emplace_back(token.type).setTokenIndex(tokens_.size() - 1);
    }
  }

  void consume() override { at_ += at_ + 1 < tokens_.size() ? 1 : 0; }  // the last is EOF
  std::size_t LA(ssize_t ahead) override { return LT(ahead)->getType(); }
  antlr4::Token* LT(ssize_t ahead) override {  // 1 is the next, -1 the last one read
    const auto at = static_cast<ssize_t>(at_) + (ahead > 0 ? ahead - 1 : ahead);
    return get(static_cast<std::size_t>(std::max<ssize_t>(at, 0)));
  }
  [[nodiscard]] antlr4::Token* get(std::size_t index) const override {
    return &tokens_[std::min(index, tokens_.size() - 1)];
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t /*marker*/) override {}
  std::size_t index() override { return at_; }
  void seek(std::size_t index) override { at_ = index; }
  std::size_t size() override { return tokens_.size(); }
  [[nodiscard]] std::string getSourceName() const override { return {}; }
  [[nodiscard]] antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText() override { return {}; }
  std::string getText(const antlr4::misc::Interval& /*interval*/) override { return {}; }
  std::string getText(antlr4::RuleContext* /*context*/) override { return {}; }
  std::string getText(antlr4::Token* /*start*/, antlr4::Token* /*stop*/) override { return {}; }

 private:
  mutable std::vector<antlr4::CommonToken> tokens_;  // ANTLR wants them not const
  std::size_t at_ = 0;
};

ast::File build_file(const Source& source, std::span<const Token> tokens, Problems& problems,
                     const parsing::Tree* tree) {
  const parsing::Builder build{.source = source, .tokens = tokens, .problems = problems};
  ast::File file{.id = source.file, .statements = {}};
  for (MtfParser::StatementContext* statement : parsing::all<MtfParser::StatementContext>(tree)) {
    file.statements.push_back(parsing::build_statement(build, statement, file.statements.empty()));
  }
  return file;
}

// Parses, and hands the tree of a text without mistakes to `use`; it lives no longer than that.
template <typename Use>
void read(const Source& source, Problems& problems, Use use) {
  if (!parsing::check_text(source, problems)) {
    return;
  }
  const std::vector<Token> raw = parsing::lex(source, problems);
  if (problems.enough()) {
    return;
  }
  const std::vector<Token> tokens = parsing::filter(source, raw, problems);
  if (problems.enough()) {
    return;
  }
  TokenFeed feed(tokens);
  MtfParser parser(&feed);
  parser.removeErrorListeners();
  parser.setErrorHandler(std::make_shared<parsing::Recovery>(source, tokens, problems));
  MtfParser::FileContext* tree = nullptr;
  try {
    tree = parser.file();
  } catch (const antlr4::ParseCancellationException&) {
    return;  // enough errors
  }
  if (problems.ok()) {
    use(tree, tokens);
  }
}

std::optional<ast::File> run(const Source& source, Problems& problems) {
  std::optional<ast::File> file;
  read(source, problems, [&](const parsing::Tree* tree, std::span<const Token> tokens) {
    file = build_file(source, tokens, problems, tree);
  });
  return file;
}

void sort_by_place(Problems& problems) {
  std::ranges::stable_sort(problems.diags, {}, [](const Diag& diag) { return diag.span.begin; });
}

void hand_over(Problems& problems, DiagSink& diags) {
  sort_by_place(problems);
  for (Diag& diag : problems.diags) {
    diags.add(std::move(diag));
  }
}

// Of the signs alone, whatever is wrong between them.
bool ends_in_block(const Source& source) {
  Problems problems;
  if (!parsing::check_text(source, problems)) {
    return false;
  }
  int blocks = 0;
  int strings = 0;  // `"{x}"` has braces of its own
  for (const Token& token : parsing::lex(source, problems)) {
    if (token.type == MtfParser::STRING_BEGIN) {
      ++strings;
    } else if (token.type == MtfParser::STRING_END) {
      const bool is_put_in = token.begin == token.end;  // at the end of a line, for all of them
      strings = is_put_in ? 0 : strings - 1;
    } else if (token.type == MtfParser::OPEN_BRACE && strings == 0) {
      ++blocks;
    } else if (token.type == MtfParser::CLOSE_BRACE && strings == 0) {
      blocks = std::max(blocks - 1, 0);
    }
  }
  return blocks > 0;
}

static_assert(MtfParser::RuleName == static_cast<std::size_t>(Form::kName));
static_assert(MtfParser::RuleLayoutBody == static_cast<std::size_t>(Form::kLayoutBody));
static_assert(MtfParser::RuleFunction == static_cast<std::size_t>(Form::kFunction));
static_assert(MtfParser::RuleExpr == static_cast<std::size_t>(Form::kExpr));

Written written_token(const Token& token) {
  return {.form = token.type == MtfParser::SEP ? Form::kSeparator : Form::kToken,
          .begin = token.begin,
          .end = token.end,
          .children = {}};
}

Written written_tree(const parsing::Builder& build, const parsing::Tree* tree) {
  Written result{.form = static_cast<Form>(tree->getRuleIndex()),
                 .begin = build.token(tree->start).begin,
                 .end = tree->stop == nullptr ? 0 : build.token(tree->stop).end,
                 .children = {}};
  if (result.form == Form::kString) {
    return result;
  }
  for (antlr4::tree::ParseTree* child : tree->children) {
    const Token* token = build.leaf(child);
    if (token == nullptr) {
      result.children.push_back(written_tree(build, static_cast<parsing::Tree*>(child)));
    } else if (token->type != MtfParser::EOF) {
      result.children.push_back(written_token(*token));
    }
  }
  return result;
}

}  // namespace

std::optional<ast::File> parse(FileId file, const SourceMap& sources, DiagSink& diags) {
  const Source source{.file = file, .text = sources.file(file).text};
  Problems problems;
  std::optional<ast::File> result = run(source, problems);
  const bool ok = problems.ok();
  hand_over(problems, diags);
  return ok ? std::move(result) : std::nullopt;
}

std::optional<Written> parse_written(FileId file, const SourceMap& sources, DiagSink& diags) {
  const Source source{.file = file, .text = sources.file(file).text};
  Problems problems;
  std::optional<Written> result;
  read(source, problems, [&](const parsing::Tree* tree, std::span<const Token> tokens) {
    static_cast<void>(build_file(source, tokens, problems, tree));  // what only it reports
    result = written_tree({.source = source, .tokens = tokens, .problems = problems}, tree);
  });
  const bool ok = problems.ok();
  hand_over(problems, diags);
  return ok ? std::move(result) : std::nullopt;
}

bool needs_more(std::string_view text) {
  const Source source{.file = {}, .text = text};
  if (ends_in_block(source)) {
    return true;
  }
  Problems problems;
  static_cast<void>(run(source, problems));
  sort_by_place(problems);
  const auto first = std::ranges::find(problems.diags, Severity::kError, &Diag::severity);
  return problems.at_end.has_value() && first->span.begin == *problems.at_end;
}

bool may_have_else(std::string_view text) {
  const std::string longer = std::string(text) + "\nelse { }";
  Problems problems;
  static_cast<void>(run({.file = {}, .text = longer}, problems));
  return problems.ok();
}

}  // namespace mtf

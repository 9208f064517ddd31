"""A lexer of the mtf language for Pygments.

    pygmentize -x -l mtf_lexer.py:MtfLexer program.mtf
"""
from pygments.lexer import RegexLexer, bygroups, default, include
from pygments.token import (Comment, Error, Keyword, Name, Number, Operator, Punctuation, String,
                            Whitespace)

__all__ = ["MtfLexer"]

NAME = r"[^\W\d]\w*"


class MtfLexer(RegexLexer):
    """Programs over tensors with named dims."""

    name = "mtf"
    aliases = ["mtf"]
    filenames = ["*.mtf"]
    mimetypes = ["text/x-mtf"]

    tokens = {
        # Where a statement begins; anywhere else the words are names.
        "root": [
            (r"[ \t\r\f\n\u00a0;]+", Whitespace),
            (r"#.*", Comment.Single),
            (rf"(fn|model)(\s+)({NAME})(?=\s*\()",
             bygroups(Keyword.Declaration, Whitespace, Name.Function), "statement"),
            (rf"(layout|mesh|param|state|let|var|option)(\s+)({NAME})",
             bygroups(Keyword.Declaration, Whitespace, Name.Variable), "statement"),
            (rf"(use|with)(\s+)(layout)(\s+)({NAME})",
             bygroups(Keyword, Whitespace, Keyword, Whitespace, Name.Class), "statement"),
            (rf"(with)(\s+)(precision)(\s+)({NAME})",
             bygroups(Keyword, Whitespace, Keyword, Whitespace, Keyword.Type), "statement"),
            (r"(import|dim|gradient|expect|for|save|restore)\b(?!\s*(?:=(?!=)|->|<-|[-+*/%,:.(\[<>]))",
             Keyword.Declaration, "statement"),
            (r"(return|print|assert|minimize|if|while)\b(?!\s*(?:=(?!=)|->|<-|[,:.]))", Keyword,
             "statement"),
            (r"(break|continue)\b(?=\s*(?:$|[;}#]))", Keyword),
            (r"(else)(\s+)(if)\b", bygroups(Keyword, Whitespace, Keyword), "statement"),
            (r"else\b(?=\s*\{)", Keyword, "statement"),
            (r"\}", Punctuation),
            default("statement"),
        ],
        "statement": [
            (r"[\n;{}]", Punctuation, "#pop"),
            include("words"),
        ],
        "words": [
            (r"[ \t\r\f\u00a0]+", Whitespace),
            (r"#.*", Comment.Single),
            (r"[(\[]", Punctuation, "brackets"),
            (r'"', String.Double, "string"),
            (r"\d[\d_]*\.\d[\d_]*(?:[eE][+-]?\d[\d_]*)?|\d[\d_]*[eE][+-]?\d[\d_]*", Number.Float),
            (r"\d[\d_]*", Number.Integer),
            (r"(?:and|or|not)\b", Operator.Word),
            (r"(?:true|false)\b", Keyword.Constant),
            (r"(?:recompute|params)\b(?=\s*\{)", Keyword),
            (r"at\b(?=\s*\")", Keyword),
            (r"else\b(?=\s*(?:\{|if\b))", Keyword),
            (r"(?<=\s)(?:as|in|on|of|with|where|step|while|under)\b(?=\s+[\w\"(\[-])", Keyword),
            (r"(?<=\s)(?:infer|auto|uneven)\b(?=\s*\{|\s+(?:infer|auto|uneven)\b)", Keyword),
            (r"(?:f16|f32|f64|bf16|i8|i16|i32|i64|u8|bool)\b(?!\s*(?:=(?!=)|:))", Keyword.Type),
            (r"(:\s*)(dim|int|float|bool|string|list|fn|tensor)\b", bygroups(Punctuation, Keyword.Type)),
            (rf"{NAME}(?=\()", Name.Function),
            (NAME, Name),
            (r"->|<-|\.\.|==|!=|<=|>=|\*\*|//|[-+*/%<>=@]", Operator),
            (r"[,:.]", Punctuation),
            (r"[)\]]", Punctuation),
            (r".", Error),
        ],
        # A line end or a `}` ends no statement here.
        "brackets": [
            (r"[)\]]", Punctuation, "#pop"),
            (r"\n", Whitespace),
            include("words"),
        ],
        "string": [
            (r'"', String.Double, "#pop"),
            (r"\n", Error, "#pop"),
            (r'\\[\\"nt{}]', String.Escape),
            (r"\{", String.Interpol, "hole"),
            (r'[^"\\{\n]+', String.Double),
        ],
        "hole": [
            (r"\}", String.Interpol, "#pop"),
            (r":[^{}\"\n]*(?=\})", String.Interpol),
            include("words"),
        ],
    }

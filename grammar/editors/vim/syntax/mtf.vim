" Colours of .mtf files. Keywords are keywords in their place alone: at the start of a statement, or
" behind a value.
if exists("b:current_syntax")
  finish
endif

syn match mtfOperator "->\|<-\|\.\.\|==\|!=\|<=\|>=\|\*\*\|//\|[-+*/%<>=@]"
syn match mtfCall "\<\K\k*\ze("
syn match mtfNumber "\<\d[0-9_]*\%(\.\d[0-9_]*\)\=\%([eE][+-]\=\d[0-9_]*\)\=\>"
syn keyword mtfWordOperator and or not
syn keyword mtfBoolean true false
syn match mtfType "\<\%(f16\|f32\|f64\|bf16\|i8\|i16\|i32\|i64\|u8\|bool\)\>\%(\s*=\|\s*:\)\@!"
syn match mtfType "\%(\k\s*:\s*\)\@<=\%(dim\|int\|float\|bool\|string\|list\|fn\|tensor\)\>"
syn match mtfConnective "\%([[:alnum:]_)\]"*]\s\+\)\@<=\%(as\|in\|on\|of\|with\|where\|step\|while\|under\)\>\%(\s\+[[:alnum:]_"([-]\)\@="
syn match mtfModifier "\%(\k\s\+\)\@<=\%(infer\|auto\|uneven\)\>\%(\s*{\|\s\+\%(infer\|auto\|uneven\)\)\@="
syn match mtfDeclaration "\%(^\|[{};]\)\@1<=\s*\%(import\|dim\|mesh\|layout\|use\|with\|gradient\|expect\|fn\|model\|let\|var\|option\|param\|state\|for\|save\|restore\)\>\%(\s*\%(=\|->\|<-\|[-+*/%,:.([<>]\)\)\@!"
syn match mtfDeclaration "\%(\<\%(use\|with\)\s\+\)\@<=layout\>"
syn match mtfDeclaration "\%(\<with\s\+\)\@<=precision\ze\s\+\K"
syn match mtfDeclaration "\<\%(recompute\|params\)\>\%(\s*{\)\@="
syn match mtfDeclaration "\<at\>\%(\s*\"\)\@="
syn match mtfStatement "\%(^\|[{};]\)\@1<=\s*\%(return\|print\|assert\|minimize\|if\|while\)\>\%(\s*\%(=[^=]\|->\|<-\|[,:.]\)\)\@!"
syn match mtfStatement "\%(^\|[{};]\)\@1<=\s*\%(break\|continue\)\>\%(\s*\%($\|[;}#]\)\)\@="
syn match mtfStatement "\%(}\s*\|^\s*\)\@<=else\>\%(\s\+if\>\)\=\%(\s*[^=,:.[:space:]]\)\@="
syn match mtfFunctionName "\%(\<\%(fn\|model\)\s\+\)\@<=\K\k*\ze\s*("
syn match mtfEscape contained +\\[\\"nt{}]+
syn region mtfHole contained matchgroup=mtfDelimiter start="{" end="}" oneline contains=mtfNumber,mtfCall,mtfOperator,mtfString,mtfWordOperator,mtfBoolean
syn region mtfString start=+"+ skip=+\\.+ end=+"+ oneline contains=mtfEscape,mtfHole
syn keyword mtfTodo contained TODO FIXME
syn match mtfComment "#.*$" contains=mtfTodo,@Spell

hi def link mtfComment Comment
hi def link mtfTodo Todo
hi def link mtfString String
hi def link mtfEscape SpecialChar
hi def link mtfDelimiter Delimiter
hi def link mtfNumber Number
hi def link mtfBoolean Boolean
hi def link mtfType Type
hi def link mtfDeclaration Keyword
hi def link mtfStatement Statement
hi def link mtfConnective Keyword
hi def link mtfModifier StorageClass
hi def link mtfWordOperator Operator
hi def link mtfOperator Operator
hi def link mtfFunctionName Function
hi def link mtfCall Function

let b:current_syntax = "mtf"

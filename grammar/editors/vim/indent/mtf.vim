" Blocks two blanks in; what goes on in an open bracket stands under its first word.
if exists("b:did_indent")
  finish
endif
let b:did_indent = 1
setlocal indentexpr=MtfIndent(v:lnum) indentkeys=0},0),0],!^F,o,O
let b:undo_indent = "setlocal indentexpr< indentkeys<"

if exists("*MtfIndent")
  finish
endif

" The text without strings and comments, as long as it was.
function! s:Code(line) abort
  let text = substitute(a:line, '"\%(\\.\|[^"\\]\)*"', '\=repeat("s", strlen(submatch(0)))', 'g')
  return substitute(text, '#.*$', '', '')
endfunction

function! MtfIndent(lnum) abort
  let open = []  " [column, bracket, the line its statement begins on, the text behind it]
  let above = prevnonblank(a:lnum - 1)
  if above == 0
    return 0
  endif
  let first = above
  while first > 1 && above - first < 200 && getline(first) !~ '^\S'
    let first -= 1
  endwhile
  for number in range(first, above)
    let text = s:Code(getline(number))
    let base = empty(open) || open[-1][1] == '{' ? number : open[-1][2]
    for column in range(strlen(text))
      if text[column] =~ '[({[]'
        call add(open, [column, text[column], base, strpart(text, column + 1)])
      elseif text[column] =~ '[)}\]]' && !empty(open)
        call remove(open, -1)
      endif
    endfor
  endfor
  if empty(open)
    return 0
  endif
  let [column, bracket, base, behind] = open[-1]
  if getline(a:lnum) =~ '^\s*[)}\]]'
    return indent(base)
  endif
  if behind =~ '\S'
    return column + (bracket == '{' ? 2 : 1)
  endif
  return indent(base) + shiftwidth()
endfunction

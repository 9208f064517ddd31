" What editing .mtf files needs: comments, two blanks, `gq` over a whole file by `mtf fmt`.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1
setlocal comments=:# commentstring=#\ %s
setlocal expandtab shiftwidth=2 softtabstop=2 textwidth=100
setlocal formatoptions-=t formatoptions+=croql
setlocal foldmethod=indent foldlevel=99
if executable("mtf")
  setlocal formatprg=mtf\ fmt\ --stdin
endif
let b:undo_ftplugin = "setlocal comments< commentstring< expandtab< shiftwidth< softtabstop<"
      \ . " textwidth< formatoptions< foldmethod< foldlevel< formatprg<"

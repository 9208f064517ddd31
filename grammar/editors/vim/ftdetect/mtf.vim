autocmd BufNewFile,BufRead *.mtf setfiletype mtf

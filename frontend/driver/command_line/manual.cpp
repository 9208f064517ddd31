// The manual page, in roff's man macros: the pages of help, one after the other.

#include <vector>

#include "frontend/driver/command_line/pages.h"

namespace mtf {
namespace {

// Roff reads a backslash as its own, and a period or an apostrophe that begins a line.
std::string roff_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool begins = result.empty() || result.back() == '\n';
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += begins && (c == '.' || c == '\'') ? "\\&" : "";
      result += c;
    }
  }
  return result;
}

// An argument of a macro.
std::string roff_argument(std::string_view text) {
  std::string result;
  for (const char c : roff_text(text)) {
    result += c == '"' ? std::string("\\(dq") : std::string(1, c);
  }
  return "\"" + result + "\"";
}

std::string paragraph(std::string_view text) {
  return ".PP\n" + roff_text(text) + "\n";
}

std::string tagged(std::string_view tag, std::string_view text) {
  return ".TP\n.B " + roff_argument(tag) + "\n" + roff_text(text) + "\n";
}

std::string command_section(const CommandDef& command) {
  std::string text =
      ".SS " + roff_argument(usage_of(command)) + "\n" + roff_text(command.summary) + ".\n";
  std::string names;
  for (const OptionDef& option : all_options()) {
    if (takes(command, option) && option.set != nullptr) {
      names += names.empty() ? "" : ", ";
      names += option.name.empty() ? option.letter : option.name;
    }
  }
  text += names.empty() ? "" : ".PP\nOptions: " + roff_text(names) + ".\n";
  text += ".PP\n.EX\n";
  for (const ExampleDef& example : command.examples) {
    text += roff_text("# " + std::string(example.says)) + "\n" + roff_text(example.line) + "\n";
  }
  return text + ".EE\n";
}

constexpr std::string_view kFiles = "~/.config/mtf/this_machine.mtf";

}  // namespace

std::string manual_page() {
  std::string text =
      ".TH MTF 1 2026-11-22 \"mtf 0.1\" \"User Commands\"\n"
      ".SH NAME\nmtf \\- tensor programs with named dims, split over ranks by layouts\n"
      ".SH SYNOPSIS\n.B mtf\n.I COMMAND\n[\\fIWORD\\fR ...] [\\fIOPTION\\fR ...]\n"
      ".SH DESCRIPTION\n"
      "A program says what is computed; a layout says which dim of its tensors is split over "
      "which\n"
      "axis of a mesh of ranks. mtf derives every collective from that, shows it before anything\n"
      "runs, and runs the program on MPI ranks or on a simulated mesh.\n";
  text += paragraph("FILE may be `-`: the program is read from standard input.");
  text += ".SH COMMANDS\n";
  for (const CommandDef& command : all_commands()) {
    text += command_section(command);
  }
  text += ".SH OPTIONS\n";
  for (const OptionDef& option : all_options()) {
    text += tagged(form_of(option), option.help);
  }
  text += ".SH EXIT STATUS\n";
  text += tagged("0", "done") + tagged("1", "an error in the program, or what it needs") +
          tagged("2", "wrong usage") + tagged("5", "ranks did not go on: --hang-timeout") +
          tagged("70", "a fault of mtf") + tagged("130, 143", "interrupted");
  text += ".SH ENVIRONMENT\n";
  text +=
      tagged("NO_COLOR", "no color in messages, unless --color says otherwise") +
      tagged("MTF_ISA", "the widest instructions to use: portable, avx2, avx512 or avx512_bf16") +
      tagged(
          "MTF_THREADS",
          "threads of a rank; else the cores that it may run on, divided among the ranks that may");
  text += ".SH FILES\n" + tagged(kFiles, "what `mtf calibrate` measured");
  return text;
}

}  // namespace mtf

// Completion scripts. Each is one table of the shell's own, filled from ours, and a few lines that
// read it: which words a command takes, which options, and what follows an option.

#include <algorithm>
#include <vector>

#include "frontend/driver/command_line/pages.h"
#include "frontend/driver/doc/language.h"
#include "frontend/driver/stdlib_modules.h"
#include "ir/support/diag.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

std::string command_names() {
  std::vector<std::string> names;
  for (const CommandDef& command : all_commands()) {
    names.emplace_back(command.name);
  }
  return joined(names, " ");
}

std::string operation_names() {
  std::vector<std::string> names;
  for (const OpDef* op : op_table()) {
    names.emplace_back(op->name);
  }
  return joined(names, " ");
}

std::string module_names() {
  std::vector<std::string> names;
  for (const std::string_view name : stdlib_module_names()) {
    names.emplace_back(name);
  }
  names.emplace_back(kLanguagePage);
  return joined(names, " ");
}

std::string options_of(const CommandDef& command) {
  return joined(option_names(command), " ");
}

// What the first word of a command may be.
const WordDef* first_word(const CommandDef& command) {
  return command.words.empty() ? nullptr : command.words.data();
}

// What the words behind the first may be. Shells are not told which of them is which: a word may
// belong to an option.
const WordDef* later_word(const CommandDef& command) {
  const auto found = std::ranges::find_if(command.words, [](const WordDef& word) {
    return word.offer == Offer::kLayouts || word.offer == Offer::kEntries;
  });
  return found == command.words.end() ? nullptr : &*found;
}

// In single quotes of a POSIX shell.
std::string quoted_word(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

// ---- bash ---------------------------------------------------------------------------------------

std::string bash_offer(Offer offer, std::string_view choices) {
  switch (offer) {
    case Offer::kPrograms:
      return "_mtf_files '*.mtf'";
    case Offer::kFiles:
      return "_mtf_files";
    case Offer::kLayouts:
      return "_mtf_names layouts";
    case Offer::kEntries:
      return "_mtf_names entries";
    case Offer::kOperations:
      return "_mtf_words " + quoted_word(operation_names());
    case Offer::kModules:
      return "_mtf_words " + quoted_word(module_names());
    case Offer::kCommands:
      return "_mtf_words " + quoted_word(command_names());
    case Offer::kChoices:
      return "_mtf_words " + quoted_word(choices);
    case Offer::kNothing:
      break;
  }
  return "COMPREPLY=()";
}

constexpr std::string_view kBashFunctions =
    R"sh(_mtf_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
_mtf_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$current"; compgen -f ${1:+-X "!$1"} -- "$current")
}
_mtf_program() {
  local i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == *.mtf && -f ${COMP_WORDS[i]} ]] && echo "${COMP_WORDS[i]}" && return
  done
  return 1
}
_mtf_names() {
  local program
  program=$(_mtf_program) && _mtf_words "$(mtf completion "$1" "$program" 2>/dev/null)"
}
)sh";

// The branches of the script's `case` statements.
struct BashCases {
  std::string values;   // behind an option
  std::string options;  // of a command
  std::string words;    // of a command: its first word
  std::string later;    // and those behind it
};

BashCases bash_cases() {
  BashCases cases;
  for (const OptionDef& option : all_options()) {
    if (!option.value.empty()) {
      cases.values += "    " + std::string(option.name.empty() ? option.letter : option.name) +
                      ") " + bash_offer(option.offer, option.choices) + "; return ;;\n";
    }
  }
  for (const CommandDef& command : all_commands()) {
    const std::string name(command.name);
    cases.options += "      " + name + ") _mtf_words " + quoted_word(options_of(command)) + " ;;\n";
    if (const WordDef* word = first_word(command); word != nullptr) {
      cases.words += "    " + name + ") " + bash_offer(word->offer, word->choices) + " ;;\n";
    }
    if (const WordDef* word = later_word(command); word != nullptr) {
      cases.later +=
          "      " + name + ") " + bash_offer(word->offer, word->choices) + "; return ;;\n";
    }
  }
  return cases;
}

std::string bash_script() {
  const BashCases cases = bash_cases();
  return "# bash: source <(mtf completion bash)\n" + std::string(kBashFunctions) +
         "_mtf() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command=${COMP_WORDS[1]}\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    [[ $current == -* ]] && _mtf_words '--help --version' && return\n"
         "    _mtf_files '*.mtf'\n"
         "    local files=(\"${COMPREPLY[@]}\")\n"
         "    _mtf_words " +
         quoted_word(command_names() + " help") +
         "\n"
         "    COMPREPLY+=(\"${files[@]}\")\n"
         "    return\n"
         "  fi\n"
         "  [[ $command == *[./]* || $command == -* ]] && command=run\n"
         "  case $before in\n" +
         cases.values +
         "  esac\n"
         "  if [[ $current == -* ]]; then\n"
         "    case $command in\n" +
         cases.options +
         "    esac\n"
         "    return\n"
         "  fi\n"
         "  if _mtf_program >/dev/null; then\n"
         "    case $command in\n" +
         cases.later +
         "    esac\n"
         "  fi\n"
         "  case $command in\n" +
         cases.words + "    help) _mtf_words " + quoted_word(command_names()) +
         " ;;\n"
         "  esac\n"
         "}\n"
         "complete -F _mtf mtf\n";
}

// ---- zsh ----------------------------------------------------------------------------------------

// In `_arguments`, brackets hold what an option says and colons part its fields.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "";
    result += c;
  }
  return result;
}

std::string zsh_offer(Offer offer, std::string_view choices) {
  switch (offer) {
    case Offer::kPrograms:
      return "_files -g \"*.mtf\"";
    case Offer::kFiles:
      return "_files";
    case Offer::kLayouts:
      return "_mtf_names layouts";
    case Offer::kEntries:
      return "_mtf_names entries";
    case Offer::kOperations:
      return "(" + operation_names() + ")";
    case Offer::kModules:
      return "(" + module_names() + ")";
    case Offer::kCommands:
      return "(" + command_names() + ")";
    case Offer::kChoices:
      return "(" + std::string(choices) + ")";
    case Offer::kNothing:
      break;
  }
  return " ";
}

// As one of its names.
std::string zsh_option(const OptionDef& option, std::string_view name) {
  const std::string once = option.name == "--set" ? "*" : "";
  const std::string says = "[" + zsh_text(option.help) + "]";
  if (option.value.empty()) {
    return quoted_word(once + std::string(name) + says);
  }
  return quoted_word(once + std::string(name) + (name == option.name ? "=" : "+") + says + ":" +
                     zsh_text(option.value) + ":" + zsh_offer(option.offer, option.choices));
}

std::string zsh_command(const CommandDef& command) {
  std::string text = "    " + std::string(command.name) + ") _arguments -S";
  for (const OptionDef& option : all_options()) {
    for (const std::string_view name : {option.letter, option.name}) {
      if (takes(command, option) && !name.empty()) {
        text += " \\\n      " + zsh_option(option, name);
      }
    }
  }
  for (const WordDef& word : command.words) {
    text +=
        " \\\n      " + quoted_word((word.missing.empty() ? "::" : ":") + std::string(word.name) +
                                    ":" + zsh_offer(word.offer, word.choices));
  }
  return text + " ;;\n";
}

std::string zsh_script() {
  std::string names;
  std::string cases;
  for (const CommandDef& command : all_commands()) {
    names +=
        "    " + quoted_word(std::string(command.name) + ":" + zsh_text(command.summary)) + "\n";
    cases += zsh_command(command);
  }
  return "#compdef mtf\n"
         "# zsh: mtf completion zsh > _mtf, in a folder of $fpath\n"
         "_mtf_names() {\n"  // behind what `_arguments` has for compadd
         "  local -a programs=(${(M)words:#*.mtf})\n"
         "  local -a names=(${(f)\"$(mtf completion $@[-1] $programs[1] 2>/dev/null)\"})\n"
         "  compadd $@[1,-2] -a names\n"
         "}\n"
         "_mtf() {\n"
         "  local -a commands=(\n" +
         names +
         "  )\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe command commands\n"
         "    _files -g \"*.mtf\"\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  if [[ $command == *[./]* || $command == -* ]]; then\n"
         "    command=run\n"
         "  else\n"
         "    shift words\n"
         "    ((CURRENT--))\n"
         "  fi\n"
         "  case $command in\n" +
         cases +
         "    help) _describe command commands ;;\n"
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _mtf ]]; then _mtf \"$@\"; else compdef _mtf mtf; fi\n";
}

// ---- fish ---------------------------------------------------------------------------------------

// In fish's single quotes only these two are escaped.
std::string fish_text(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' || c == '\\' ? "\\" : "";
    result += c;
  }
  return result + "'";
}

std::string fish_offer(Offer offer, std::string_view choices) {
  switch (offer) {
    case Offer::kPrograms:
      return " -k -a '(__fish_complete_suffix .mtf)'";
    case Offer::kFiles:
      return " -F";
    case Offer::kLayouts:
      return " -f -a '(__mtf_names layouts)'";
    case Offer::kEntries:
      return " -f -a '(__mtf_names entries)'";
    case Offer::kOperations:
      return " -f -a " + fish_text(operation_names());
    case Offer::kModules:
      return " -f -a " + fish_text(module_names());
    case Offer::kCommands:
      return " -f -a " + fish_text(command_names());
    case Offer::kChoices:
      return " -f -a " + fish_text(choices);
    case Offer::kNothing:
      break;
  }
  return " -f";  // no files
}

std::string fish_command(const CommandDef& command) {
  const std::string name(command.name);
  const std::string head = "complete -c mtf -n '__fish_seen_subcommand_from " + name + "'";
  std::string text = "complete -c mtf -n __fish_use_subcommand -a " + name + " -d " +
                     fish_text(command.summary) + "\n";
  if (const WordDef* word = first_word(command); word == nullptr) {
    text += head + " -f\n";
  } else {
    text += head + fish_offer(word->offer, word->choices) + "\n";
  }
  if (const WordDef* word = later_word(command); word != nullptr) {
    text += head + fish_offer(word->offer, word->choices) + "\n";
  }
  for (const OptionDef& option : all_options()) {
    if (takes(command, option)) {
      text += head;
      text += option.letter.empty() ? "" : " -s " + std::string(option.letter.substr(1));
      text += option.name.empty() ? "" : " -l " + std::string(option.name.substr(2));
      text += option.value.empty() ? "" : " -r" + fish_offer(option.offer, option.choices);
      text += " -d " + fish_text(option.help) + "\n";
    }
  }
  return text;
}

std::string fish_script() {
  std::string text =
      "# fish: mtf completion fish > ~/.config/fish/completions/mtf.fish\n"
      "function __mtf_names\n"
      "  set -l program (string match -- '*.mtf' (commandline -opc))\n"
      "  test -n \"$program[1]\"; and mtf completion $argv[1] $program[1] 2>/dev/null\n"
      "end\n"
      "complete -c mtf -n __fish_use_subcommand -k -a '(__fish_complete_suffix .mtf)'\n"
      "complete -c mtf -n __fish_use_subcommand -l version -d 'versions of mtf and of its "
      "libraries'\n";
  for (const CommandDef& command : all_commands()) {
    text += fish_command(command);
  }
  return text;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  return shell == "bash" ? bash_script() : shell == "zsh" ? zsh_script() : fish_script();
}

}  // namespace mtf

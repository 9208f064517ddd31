#include "frontend/driver/repl/terminal.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <histedit.h>
#include <iterator>
#include <poll.h>
#include <unistd.h>

#include "frontend/driver/commands.h"
#include "ir/support/utf8.h"

namespace mtf {

struct Terminal::State {
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string file;
  std::string last;  // the line that was entered
  std::string prompt;
  std::function<Candidates(std::string_view)> complete;
  bool interrupted = false;
  bool is_pasting = false;   // the terminal says so: between its marks
  bool was_pasted = false;   // of the line in question some
  bool was_waiting = false;  // the line was there before the prompt
  bool knows_marks = false;
};

namespace {

constexpr int kHistory = 10'000;  // lines; the file may have twice as many
constexpr std::string_view kHistoryHead = "_HiStOrY_V2_\n";  // by which libedit knows its files
// A terminal that knows them puts marks around what is pasted.
constexpr const char* kMarksOn = "\x1b[?2004h";
constexpr const char* kMarksOff = "\x1b[?2004l";
constexpr std::size_t kMostShown = 60;

Terminal::State& state_of(EditLine* editor) {
  void* data = nullptr;
  el_get(editor, EL_CLIENTDATA, &data);
  return *static_cast<Terminal::State*>(data);
}

char* prompt_of(EditLine* editor) {
  return state_of(editor).prompt.data();
}

// The editor itself writes what ends the line, as only it knows where on the screen that is.
unsigned char drop_line(EditLine* editor, int /*key*/) {
  state_of(editor).interrupted = true;
  const LineInfo* line = el_line(editor);
  el_cursor(editor, static_cast<int>(line->lastchar - line->cursor));
  el_insertstr(editor, "^C");
  el_push(editor, "\n");
  return CC_REFRESH;
}

void list(const std::vector<Candidate>& found) {
  std::size_t width = 0;
  for (const Candidate& candidate : found) {
    width = std::max(width, display_width(candidate.text));
  }
  std::string text = "\n";
  for (std::size_t i = 0; i < std::min(found.size(), kMostShown); ++i) {
    const std::string line = "  " + found[i].text +
                             std::string(width + 2 - display_width(found[i].text), ' ') +
                             found[i].says;
    text += shortened(line, output_columns() - 1) + "\n";
  }
  if (found.size() > kMostShown) {
    text += "  … and " + std::to_string(found.size() - kMostShown) + " more\n";
  }
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

unsigned char begin_paste(EditLine* editor, int /*key*/) {
  state_of(editor).is_pasting = true;
  state_of(editor).was_pasted = true;
  return CC_NORM;
}

unsigned char end_paste(EditLine* editor, int /*key*/) {
  Terminal::State& state = state_of(editor);
  const LineInfo* line = el_line(editor);
  state.is_pasting = false;
  state.was_waiting = false;
  state.was_pasted = state.was_pasted && line->lastchar != line->buffer;
  return CC_NORM;
}

// Ctrl-Z: back to the shell, until it says `fg`. What is edited is there again then.
unsigned char suspend(EditLine* editor, int /*key*/) {
  el_set(editor, EL_PREP_TERM, 0);
  std::fputs(state_of(editor).knows_marks ? kMarksOff : "", stdout);
  std::fflush(stdout);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  struct sigaction of_editor {};
  sigaction(SIGTSTP, &usual, &of_editor);
  kill(0, SIGTSTP);  // all that the shell started with it
  sigaction(SIGTSTP, &of_editor, nullptr);
  std::fputs(state_of(editor).knows_marks ? kMarksOn : "", stdout);
  std::fflush(stdout);
  el_set(editor, EL_PREP_TERM, 1);
  return CC_REDISPLAY;
}

unsigned char do_nothing(EditLine* /*editor*/, int /*key*/) {
  return CC_NORM;
}

unsigned char complete_word(EditLine* editor, int /*key*/) {
  const Terminal::State& state = state_of(editor);
  if (state.is_pasting || state.was_waiting) {  // nobody would see what it becomes
    el_insertstr(editor, "\t");
    return CC_REFRESH;
  }
  const LineInfo* line = el_line(editor);
  const std::string_view before(line->buffer,
                                static_cast<std::size_t>(line->cursor - line->buffer));
  if (before.find_first_not_of(" \t") == std::string_view::npos) {
    el_insertstr(editor, "  ");
    return CC_REFRESH;
  }
  const Candidates found = state_of(editor).complete(before);
  if (found.list.empty()) {
    return CC_REFRESH_BEEP;
  }
  std::string common = found.list.front().text;
  for (const Candidate& candidate : found.list) {
    const auto [end, other] = std::ranges::mismatch(common, candidate.text);
    static_cast<void>(other);
    common.erase(end, common.end());
  }
  const std::string& first = found.list.front().text;
  while (common.size() < first.size() && !begins_code_point(first[common.size()])) {
    common.pop_back();  // half a letter is none
  }
  if (common.size() > found.word) {
    el_insertstr(editor, common.substr(found.word).c_str());
    return CC_REFRESH;
  }
  if (found.list.size() > 1) {
    list(found.list);
    return CC_REDISPLAY;
  }
  return CC_REFRESH;
}

// Whatever is no letter or digit in the way that libedit's own files have it, too.
std::string history_entry(std::string_view line) {
  std::string text;
  for (const char letter : line) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x80 && std::isalnum(byte) != 0) {
      text += letter;
    } else {
      std::array<char, 5> octal{};
      std::snprintf(octal.data(), octal.size(), "\\%03o", static_cast<unsigned>(byte));
      text += octal.data();
    }
  }
  return text + "\n";
}

// At its end, in one piece: other sessions write there, too.
void append_to_history(const std::string& path, std::string_view line) {
  std::error_code problem;
  const bool is_new = std::filesystem::file_size(path, problem) == 0 || problem;
  std::ofstream(path, std::ios::app | std::ios::binary)
      << (is_new ? std::string(kHistoryHead) : "") + history_entry(line);
}

// Begins with what sessions have left there, of which the last lines stay.
void load_history(History* history, const std::string& path) {
  HistEvent event;
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), problem);
  if (!std::filesystem::is_regular_file(path, problem)) {
    return;  // none yet, or what has no end, or a folder
  }
  ::history(history, &event, H_LOAD, path.c_str());
  std::ifstream stream(path, std::ios::binary);
  const auto lines = std::count(std::istreambuf_iterator<char>(stream), {}, '\n');
  if (lines / 2 > kHistory) {
    ::history(history, &event, H_SAVE, path.c_str());
  }
}

void bind(EditLine* editor, const char* key, const char* command) {
  el_set(editor, EL_BIND, key, command, nullptr);
}

void bind_keys(EditLine* editor) {
  el_set(editor, EL_ADDFN, "mtf-complete", "complete the word", complete_word);
  el_set(editor, EL_ADDFN, "mtf-drop", "drop the line", drop_line);
  el_set(editor, EL_ADDFN, "mtf-paste", "what follows is pasted", begin_paste);
  el_set(editor, EL_ADDFN, "mtf-pasted", "what follows is typed", end_paste);
  el_set(editor, EL_ADDFN, "mtf-suspend", "back to the shell", suspend);
  el_set(editor, EL_ADDFN, "mtf-nothing", "do nothing", do_nothing);
  bind(editor, "^I", "mtf-complete");
  bind(editor, "^C", "mtf-drop");
  bind(editor, "^Z", "mtf-suspend");
  bind(editor, "^R", "em-inc-search-prev");
  bind(editor, "\\e[200~", "mtf-paste");
  bind(editor, "\\e[201~", "mtf-pasted");
  for (const char* control_or_alt_left : {"\\e[1;5D", "\\e[1;3D", "\\e[5D", "\\eOd"}) {
    bind(editor, control_or_alt_left, "ed-prev-word");
  }
  for (const char* control_or_alt_right : {"\\e[1;5C", "\\e[1;3C", "\\e[5C", "\\eOc"}) {
    bind(editor, control_or_alt_right, "em-next-word");
  }
  // Insert, the pages, F1 to F12 of several kinds of terminals, Shift-Tab.
  for (const char* other :
       {"\\e[2~",  "\\e[5~",  "\\e[6~",  "\\eOP",   "\\eOQ",   "\\eOR",   "\\eOS",
        "\\e[11~", "\\e[12~", "\\e[13~", "\\e[14~", "\\e[15~", "\\e[17~", "\\e[18~",
        "\\e[19~", "\\e[20~", "\\e[21~", "\\e[23~", "\\e[24~", "\\e[Z"}) {
    bind(editor, other, "mtf-nothing");
  }
}

bool is_waiting() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return poll(&input, 1, 0) == 1;
}

}  // namespace

Terminal::Terminal(std::string history, std::function<Candidates(std::string_view)> complete)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  std::setlocale(LC_CTYPE, "");
  if (MB_CUR_MAX == 1) {
    std::setlocale(LC_CTYPE, "C.UTF-8");  // names may be of any alphabet
  }
  s.file = std::move(history);
  s.complete = std::move(complete);
  s.knows_marks = knows_escapes();
  s.editor = el_init("mtf", stdin, stdout, stderr);
  s.history = history_init();
  HistEvent event;
  ::history(s.history, &event, H_SETSIZE, kHistory);
  ::history(s.history, &event, H_SETUNIQUE, 1);
  if (!s.file.empty()) {
    load_history(s.history, s.file);
  }
  el_set(s.editor, EL_CLIENTDATA, &s);
  el_set(s.editor, EL_EDITOR, "emacs");
  el_set(s.editor, EL_PROMPT, prompt_of);
  el_set(s.editor, EL_HIST, ::history, s.history);
  el_set(s.editor, EL_SIGNAL, 1);
  el_set(s.editor, EL_SETTY, "-d", "-isig", nullptr);  // Ctrl-C at the prompt is a key
  bind_keys(s.editor);
  el_source(s.editor, nullptr);  // ~/.editrc
}

Terminal::~Terminal() {
  el_end(state_->editor);
  history_end(state_->history);
}

std::optional<TypedLine> Terminal::read(std::string_view prompt) {
  State& s = *state_;
  s.prompt = prompt;
  s.interrupted = false;
  s.was_waiting = is_waiting();
  s.was_pasted = s.is_pasting;
  int count = 0;
  std::fputs(s.knows_marks ? kMarksOn : "", stdout);
  const char* text = el_gets(s.editor, &count);
  std::fputs(s.knows_marks ? kMarksOff : "", stdout);
  std::fflush(stdout);
  TypedLine line{.text = "", .was_waiting = s.was_waiting || s.was_pasted};
  s.is_pasting = s.is_pasting && !s.interrupted;
  line.interrupted = s.interrupted;
  if (line.interrupted) {
    return line;
  }
  if (text == nullptr || count <= 0) {
    return std::nullopt;
  }
  line.text.assign(text, static_cast<std::size_t>(count));
  if (line.text.ends_with('\n')) {
    line.text.pop_back();
  }
  if (line.text.find_first_not_of(" \t") != std::string::npos) {
    HistEvent event;
    ::history(s.history, &event, H_ENTER, line.text.c_str());
    if (!s.file.empty() && line.text != s.last) {
      append_to_history(s.file, line.text);
    }
    s.last = line.text;
  }
  return line;
}

}  // namespace mtf

// `mtf repl`: statements and commands from a terminal, a pipe or a file.

#include "frontend/driver/repl/repl.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <unistd.h>

#include "frontend/driver/commands.h"
#include "frontend/driver/progress.h"
#include "frontend/driver/repl/ranks/worker.h"
#include "frontend/driver/repl/reader.h"
#include "frontend/driver/repl/terminal.h"
#include "frontend/driver/workspace.h"
#include "ir/support/file.h"
#include "ir/support/stop.h"
#include "runtime/ranks/interruption.h"
#include "runtime/ranks/mpi/launch.h"

namespace mtf {
namespace {

void show_answer(std::string_view text) {
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void show_mistake(std::string_view text) {
  clear_progress();
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

// As it would look on a terminal.
void echo(const Chunk& chunk) {
  std::string text;
  std::size_t begin = 0;
  while (begin <= chunk.text.size()) {
    const std::size_t end = std::min(chunk.text.find('\n', begin), chunk.text.size());
    text += std::string(begin == 0 ? kPrompt : kMorePrompt) +
            chunk.text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  show_answer(text);
}

// Before its end; for `std::cin`, stdio knows.
bool has_failed(const std::istream& stream) {
  return stream.bad() || (&stream == &std::cin && std::ferror(stdin) != 0);
}

// False: a mistake, or what cannot be read. A transcript goes on after a mistake, as a person does.
bool read_lines(Repl& repl, std::istream& stream, const std::string& name, bool is_transcript) {
  Reader reader(/*by_hand=*/false);
  bool is_right = true;
  const auto take = [&](Chunk chunk) {
    if (is_transcript) {
      echo(chunk);
    }
    is_right = repl.take(name, chunk.line, std::move(chunk.text)) && is_right;
    return (is_right || is_transcript) && !repl.is_over() && repl.interrupted() == 0;
  };
  for (std::string line; std::getline(stream, line);) {
    for (Chunk& chunk : reader.add(line)) {
      if (!take(std::move(chunk))) {
        return is_right;
      }
    }
  }
  if (const int problem = errno; has_failed(stream)) {
    return repl.refuse(DiagKind::kFile,
                       in_backticks(name) + " cannot be read: " + std::strerror(problem));
  }
  if (std::optional<Chunk> last = reader.rest()) {
    take(*std::move(last));
  }
  return is_right;
}

// A program is loaded; what has commands in it is read as it would be typed.
bool has_commands(std::istream& stream) {
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(':') || line.starts_with(kPrompt)) {
      return true;
    }
  }
  return false;
}

bool read_file(Repl& repl, const std::string& path, bool is_transcript) {
  std::ifstream stream(path, std::ios::binary);
  if (!is_transcript && (!stream || !has_commands(stream))) {
    return repl.take("session", 1, ":load \"" + path + "\"");
  }
  stream.clear();
  stream.seekg(0);
  if (!stream) {
    return repl.take("session", 1, ":load \"" + path + "\"");  // which says why it cannot be read
  }
  return read_lines(repl, stream, path, is_transcript);
}

void read_settings(Repl& repl) {
  const std::string folder = user_folder("XDG_CONFIG_HOME", "/.config");
  std::ifstream stream(folder + "/replrc");
  if (!folder.empty() && stream) {
    repl.set_quiet(true);
    read_lines(repl, stream, "replrc", /*is_transcript=*/false);
    repl.set_quiet(false);
  }
}

void take_typed(Repl& repl, std::vector<Chunk> chunks) {
  for (Chunk& chunk : chunks) {
    if (!repl.is_over()) {
      static_cast<void>(repl.take("session", chunk.line, std::move(chunk.text)));
    }
  }
}

void talk(Repl& repl) {
  const std::string folder = user_folder("XDG_STATE_HOME", "/.local/state");
  Terminal terminal(folder.empty() ? "" : folder + "/history",
                    [&repl](std::string_view line) { return candidates(repl, line); });
  Reader reader(/*by_hand=*/true);
  while (!repl.is_over()) {
    const std::optional<TypedLine> line = terminal.read(reader.is_inside() ? kMorePrompt : kPrompt);
    if (!line) {
      std::fputs("\n", stdout);
      take_typed(repl, reader.whole());
      if (const std::optional<Chunk> dropped = reader.rest()) {
        show_mistake("dropped, as it was not finished: " + in_backticks(first_line(dropped->text)) +
                     "\n");
      }
      return;
    }
    if (line->interrupted) {
      reader.forget();
      continue;
    }
    take_typed(repl, reader.add(line->text, /*typed=*/!line->was_waiting));
  }
}

// The file, then the script, or what is typed or comes by standard input; whether all of it went
// well.
bool hold_session(Repl& repl, const Options& options) {
  repl.set_quiet(true);
  const bool is_read =
      options.file.empty() ||
      (read_file(repl, options.file, /*is_transcript=*/false) && repl.holds_what_is_asked());
  repl.set_quiet(false);
  if (!options.script.empty()) {
    return is_read && (repl.is_over() || read_file(repl, options.script, /*is_transcript=*/true));
  }
  if (isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) {
    read_settings(repl);
    std::fputs("mtf; `:help` lists commands, Ctrl-D ends\n", stdout);
    talk(repl);
    return repl.interrupted() == 0 || repl.interrupted() == kCtrlC;
  }
  return is_read &&
         (repl.is_over() || read_lines(repl, std::cin, "stdin", /*is_transcript=*/false));
}

}  // namespace

int repl_command(const Options& options) {
  const std::optional<Launch> launch = launched();
  const char* socket = std::getenv(kSessionSocket);
  if (launch && socket != nullptr) {
    return serve_session(socket, *launch);
  }
  if (launch) {
    return show_alone(
        "mtf: repl: a session starts its ranks itself, by `:ranks N`; start it without "
        "mpirun\n",
        kUsageError);
  }
  note_interruptions(/*in_session=*/true);
  ask_at_stop_points([](std::int64_t done, std::int64_t of) {
    throw_if_interrupted();
    planning_at(done, of);
  });
  Repl repl(options, {.answer = show_answer,
                      .mistake = options.script.empty() ? show_mistake : show_answer});
  repl.set_color(options.script.empty() ? color_mode(options) : ColorMode::kPlain);
  const bool is_right = hold_session(repl, options);
  if (is_right) {
    repl.tell_unused_settings();
  }
  const int failure = repl.interrupted() == 0 ? kProgramError : repl.interrupted();
  Outcome outcome{.status = is_right ? kDone : failure, .message = {}};
  flush_output(outcome);
  std::fputs(outcome.message.c_str(), stderr);
  return outcome.status;
}

}  // namespace mtf

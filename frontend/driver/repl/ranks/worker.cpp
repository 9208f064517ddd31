#include "frontend/driver/repl/ranks/worker.h"

#include <csignal>
#include <cstdlib>
#include <memory>
#include <new>
#include <unistd.h>
#include <unordered_map>

#include "frontend/driver/devices/execute_device.h"
#include "frontend/driver/options.h"
#include "frontend/driver/repl/ranks/channel.h"
#include "frontend/driver/repl/ranks/messages.h"
#include "ir/support/match.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

bool say(Channel& session, const wire::Answer& answer) {
  wire::Writer writer;
  writer.put(answer);
  return session.send(writer.take());
}

class Worker {
 public:
  Worker(Channel& session, Communicator& world) : session_(session), world_(world) {}

  // Requests that came together.
  wire::Reply take(std::string_view message) {
    wire::Reply reply;
    const auto fail = [&reply](Diag diag) {
      reply = {.done = false, .thrown = true, .diags = {std::move(diag)}};
    };
    try {
      wire::Reader reader(message);
      for (auto left = reader.take<std::size_t>(); left > 0 && !reply.thrown; --left) {
        reply = answer(reader.take<wire::Request>());
      }
    } catch (const Failure& failure) {
      fail(failure.diag);
    } catch (const std::bad_alloc&) {
      fail({.kind = DiagKind::kMemory, .text = "there is not enough memory"});
    } catch (const std::exception& error) {
      fail({.kind = DiagKind::kFile, .text = std::string("internal error: ") + error.what()});
    }
    return reply;
  }

 private:
  wire::Reply answer(const wire::Request& request) {
    wire::Reply reply;
    match(
        request,  //
        [&](const wire::Start& start) { begin_anew(start); },
        [&](const wire::Use& use) {
          DiagSink diags;
          layout_ = use.layout;
          finish(reply, device_->use(&layout_, {}, diags), diags);
        },
        [&](const wire::Declare& declare) { device_->declare(declare.variable); },
        [&](const wire::AddUnit& added) {
          auto unit = std::make_unique<Unit>();
          unit->program = added.program;
          unit->is_entry = added.is_entry;
          units_.insert_or_assign(added.unit, std::move(unit));
        },
        [&](const wire::Run& run) { reply = run_unit(run); },
        [&](const wire::Print& print) {
          reply.text = device_->text(tensors_.at(print.tensor), print.numbers).value_or("");
        },
        [&](const wire::Tell& tell) {
          reply.whole = device_->value(tensors_.at(tell.tensor)).value_or(HostTensor()).data;
        },
        [&](wire::Plainly what) { do_plainly(what, reply); },
        [&](const wire::SwitchTo& to) {
          DiagSink diags;
          finish(reply, device_->switch_to(to.layout, to.wanted, diags), diags);
        },
        [&](const wire::Release& released) {
          for (const std::uint64_t tensor : released.tensors) {
            tensors_.erase(tensor);
          }
        },
        [&](const wire::Read& read) { reply.tensor = device_->read(tensors_.at(read.tensor)); },
        [&](const wire::ReadVariable& read) { reply.tensor = device_->read_variable(read.path); },
        [&](const wire::TakeOver& state) { device_->take_over(state.state); },
        [&](const wire::Hold& hold) {
          tensors_.insert_or_assign(hold.tensor, device_->hold(hold.slices));
        },
        [&](const wire::HoldVariable& hold) { device_->hold_variable(hold.path, hold.slices); },
        [&](const SaveRequest& save) {
          DiagSink diags;
          finish(reply, device_->save(save, diags), diags);
        },
        [&](const RestoreRequest& restore) {
          DiagSink diags;
          finish(reply, device_->restore(restore, diags), diags);
        });
    return reply;
  }

  static void finish(wire::Reply& reply, bool done, const DiagSink& diags) {
    reply.done = done;
    reply.diags.assign(diags.diags().begin(), diags.diags().end());
  }

  void begin_anew(const wire::Start& start) {
    tensors_.clear();
    device_.reset();
    units_.clear();
    const auto print = [this](std::string_view line) {
      say(session_, wire::Line{.text = std::string(line)});
    };
    device_ = std::make_unique<ExecuteDevice>(ExecuteOptions{.ops = op_table(),
                                                             .exact = start.exact,
                                                             .nan_is_error = start.nan_is_error,
                                                             .seed = start.seed,
                                                             .max_memory = start.max_memory,
                                                             .print = print,
                                                             .after_run = {},
                                                             .observe = {},
                                                             .is_open = true},
                                              &world_);
  }

  wire::Reply run_unit(const wire::Run& run) {
    std::vector<TensorHandle> arguments;
    for (const std::uint64_t tensor : run.arguments) {
      arguments.push_back(tensors_.at(tensor));
    }
    DiagSink diags;
    const std::optional<std::vector<TensorHandle>> results =
        device_->run(*units_.at(run.unit), arguments, diags);
    wire::Reply reply;
    finish(reply, results.has_value(), diags);
    std::uint64_t next = run.first_result;
    for (const TensorHandle& result : results.value_or(std::vector<TensorHandle>())) {
      const bool is_scalar = result->type.shape.rank() == 0;
      reply.results.push_back(
          {.type = result->type, .number = is_scalar ? device_->scalar(result) : std::nullopt});
      tensors_.insert_or_assign(next++, result);
    }
    return reply;
  }

  void do_plainly(wire::Plainly what, wire::Reply& reply) {
    switch (what) {
      case wire::Plainly::kBegin:
        return device_->begin();
      case wire::Plainly::kUndo:
        return device_->undo();
      case wire::Plainly::kTellState:
        reply.state = device_->state();
        return;
    }
  }

  Channel& session_;
  Communicator& world_;
  Layout layout_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Unit>> units_;
  std::unique_ptr<ExecuteDevice> device_;
  std::unordered_map<std::uint64_t, TensorHandle> tensors_;
};

}  // namespace

int serve_session(const std::string& socket, const Launch& launch) {
  unsetenv(kSessionSocket);
  std::signal(SIGINT, SIG_IGN);  // the session says when to stop
  const std::unique_ptr<Communicator> world = mpi_communicator();
  Channel session(connect_to(socket));
  if (session.socket() < 0) {
    world->close(kProgramError, "mtf: a rank does not find its session; is it on this machine?\n");
    return kProgramError;
  }
  bool is_there =
      say(session, wire::Hello{.rank = launch.rank, .process = static_cast<int>(getpid())});
  {
    Worker worker(session, *world);
    while (is_there) {
      const std::optional<std::string> message = session.receive();
      is_there = message && say(session, worker.take(*message));
    }
  }
  world->close(kDone, "");
  return kDone;
}

}  // namespace mtf

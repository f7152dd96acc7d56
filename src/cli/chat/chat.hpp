#pragma once

#include <boost/asio/signal_set.hpp>
#include <optional>
#include <string>
#include <vector>

#include "async/blocking_pool.hpp"
#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "cli/agent/agent_api.hpp"
#include "cli/agent/own_run.hpp"
#include "cli/chat/chat_line.hpp"
#include "cli/chat/chat_thread.hpp"
#include "cli/show/event_printer.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/line_input.hpp"
#include "sdk/toolbox.hpp"

namespace errand::cli {

// One `errand chat`: reads messages and shows what becomes of them, until the user ends it. Lives
// on the home of the API; that has nothing left to do when it is over.
class Chat final {
 public:
  // Outlive the chat.
  struct Parts {
    AgentApi place;
    sdk::Toolbox& tools;
    EventPrinter& printer;
    Console& console;
    LineInput& input;
    BlockingPool& pool;  // for files
  };

  // With a person a failure is told, and the next message is waited for. In a script it is the end.
  enum class Manner { conversation, script };

  struct Beginning {
    std::string id;  // of a new chat
    json::Object fields;
    std::optional<std::string> resume;  // see ChatThread::resume
    Manner manner = Manner::conversation;
  };

  Chat(Parts parts, Beginning beginning);

  void start();
  int exit_code() const { return exit_code_; }

 private:
  using ExitCode = std::optional<int>;  // nothing: the chat goes on

  Task<void> run();
  Task<int> talk();
  Task<Result<void>> begin();
  Task<Result<void>> show_past(json::Value run);
  Task<Result<InputLine>> read_message();
  Task<ExitCode> hear_nothing(InputLine line);

  Task<ExitCode> take(ChatLine line);
  Task<ExitCode> say(std::string message);
  Task<ExitCode> show_tools();
  Task<ExitCode> choose_model(std::string id);
  Task<ExitCode> save(std::string target);
  Task<ExitCode> leave();
  Task<ExitCode> complain(Error error);

  void begin_run();
  Task<Result<sdk::RunEnd>> ask(sdk::ApiRequest request);
  Task<Result<sdk::RunEnd>> rejoin(json::Value run);
  Task<Result<sdk::RunEnd>> close_run(Result<sdk::RunEnd> end);
  Task<Result<void>> catch_up();

  Task<void> tell(Pieces pieces);
  Task<void> watch_signals();
  void stop(int signal);
  bool is_script() const { return beginning_.manner == Manner::script; }

  const Parts parts_;
  const Beginning beginning_;
  ChatThread thread_;
  Home home_;
  AsioTimers timers_;
  asio::signal_set signals_;
  int exit_code_;
  std::string model_;  // of the next message
  bool has_begun_ = false;
  bool is_reading_ = false;
  bool is_ending_ = false;     // a signal asks for it
  bool is_warned_ = false;     // that Ctrl-C once more ends it
  bool is_cancelled_ = false;  // the last run was, by the user
  bool is_lost_ = false;       // the end of the last run was not seen
  std::optional<TimerGuard> last_resort_;
  std::optional<OwnRun> run_;  // while there is one
  TaskGroup tasks_;            // last: tasks use everything above
};

}  // namespace errand::cli

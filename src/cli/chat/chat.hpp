#pragma once

#include <optional>
#include <string>

#include "cli/agent/agent_session.hpp"
#include "cli/agent/own_run.hpp"
#include "cli/chat/chat_line.hpp"
#include "cli/chat/chat_thread.hpp"
#include "cli/terminal/line_input.hpp"

namespace errand::cli {

// One `errand chat`: reads messages and shows what becomes of them, until the user ends it. Lives
// on the home of its session.
class Chat final : public AgentWork {
 public:
  // With a person, a failure is shown, and the chat waits for the next message. In a script, it
  // ends the chat.
  enum class Manner { conversation, script };

  struct Beginning {
    std::optional<std::string> resume;  // see resume_chat; absent: a new chat
    Manner manner = Manner::conversation;
    std::string flags = {};  // that go on with the chat, see flags_to_repeat
  };

  // `session` and `input` outlive the chat.
  Chat(AgentSession& session, LineInput& input, Beginning beginning);

  Task<int> work() override;
  Task<void> clean_up() override;
  void on_signal(int signal) override;
  void on_log_shown() override;

 private:
  using ExitCode = std::optional<int>;  // nothing: the chat goes on

  Task<Result<void>> begin();
  Task<Result<void>> show_past();
  Task<Result<void>> show_news();
  Task<Result<InputLine>> read_message();
  Task<ExitCode> hear_nothing(InputLine line);

  Task<ExitCode> take(ChatLine line);
  Task<ExitCode> say(std::string message);
  Task<ExitCode> show_tools();
  Task<ExitCode> choose_model(std::string id);
  Task<ExitCode> save(std::string target);
  Task<ExitCode> leave(int exit_code);
  Task<ExitCode> complain(Error error);

  OwnRun& begin_run();
  Task<Result<sdk::RunEnd>> ask(std::string message);
  Task<Result<sdk::RunEnd>> rejoin(sdk::RunInfo run);
  Task<Result<sdk::RunEnd>> close_run(Result<sdk::RunEnd> end);
  Task<Result<void>> catch_up();

  Task<void> tell(Pieces pieces);
  void stop(int signal);
  // The command that goes on with the chat, for people; empty if there is nothing to go on with.
  std::string way_back() const;
  bool is_script() const { return beginning_.manner == Manner::script; }

  AgentSession& session_;
  LineInput& input_;
  const Beginning beginning_;
  ChatThreadPtr thread_;  // made on the session's home
  std::string model_;     // of the next message
  bool has_begun_ = false;
  bool is_reading_ = false;
  bool is_ending_ = false;     // a signal asks for it
  bool is_warned_ = false;     // that Ctrl-C once more ends it
  bool is_cancelled_ = false;  // the last run was, by the user
  bool is_lost_ = false;       // the end of the last run was not seen
  std::optional<OwnRun> run_;  // while there is one
  double cost_usd_ = 0;        // of the answers seen here, as far as their prices are known
};

}  // namespace errand::cli

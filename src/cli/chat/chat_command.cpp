#include "cli/chat/chat_command.hpp"

#include <unistd.h>

#include <memory>
#include <utility>

#include "cli/agent/agent_session.hpp"
#include "cli/chat/chat.hpp"
#include "cli/chat/chat_list.hpp"
#include "cli/terminal/edited_input.hpp"
#include "cli/terminal/plain_input.hpp"
#include "cli/terminal/report.hpp"
#include "sdk/internal/server_flags.hpp"

namespace errand::cli {
namespace {

// A chat works without its history file.
Result<std::unique_ptr<EditedInput>> open_editor() {
  auto file = chat_history_file(sdk::environment_here());
  if (!file) return EditedInput::open({}, {});
  LineHistory history(*file);
  auto lines = history.load();
  if (lines) return EditedInput::open(*lines, std::move(history));
  fail(lines.error());
  return EditedInput::open({}, {});
}

Result<std::unique_ptr<LineInput>> make_input(const Look& look, Chat::Manner manner) {
  using Prompt = PlainInput::Prompt;
  bool is_person = manner == Chat::Manner::conversation;
  if (is_person && look.kind == Look::Kind::live) {
    ERRAND_TRY(auto editor, open_editor());
    return std::unique_ptr<LineInput>(std::move(editor));
  }
  bool is_shown = is_person && ::isatty(STDERR_FILENO) == 1;
  return std::unique_ptr<LineInput>(
      std::make_unique<PlainInput>(STDIN_FILENO, is_shown ? Prompt::shown : Prompt::left_out));
}

// Only chats that are stored can be continued.
AgentOptions with_data(AgentOptions agent) {
  if (is_embedded(agent)) agent.server.data = sdk::data_directory(agent.server).string();
  return agent;
}

}  // namespace

int chat_command(const ChatOptions& options) {
  ignore_broken_pipes();
  AgentOptions agent = with_data(options.agent);
  Look look = look_here();
  auto manner = ::isatty(STDIN_FILENO) == 1 ? Chat::Manner::conversation : Chat::Manner::script;
  AgentSession session(agent, make_printer(Form::text, look));
  if (auto opened = session.open(); !opened) return fail_usage(opened.error());
  if (options.list) {
    ChatList list(session);
    return session.run(list);
  }
  auto input = make_input(look, manner);
  if (!input) return fail(input.error());
  Chat chat(session, **input,
            {.resume = options.resume, .manner = manner, .flags = flags_to_repeat(options.agent)});
  return session.run(chat);
}

}  // namespace errand::cli

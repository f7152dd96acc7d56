#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/chat/conversation.hpp"
#include "sdk/internal/run_verbs.hpp"

namespace errand::cli {

// Metadata of all chats.
inline constexpr const char* kCommandKey = "errand.command";
inline constexpr const char* kChatCommand = "chat";

// What a chat was when it is resumed.
struct ChatPast {
  std::vector<Saying> last;         // the last message and its answer
  std::optional<sdk::RunInfo> run;  // if the answer is not complete
  std::string model_id = {};        // of the last answer; empty: not known
};

// The conversation of a chat: where the next message goes, and what was said. Lives on one home.
class ChatThread {
 public:
  virtual ~ChatThread() = default;

  // The name that resumes the chat; empty before the first message.
  virtual std::string id() const = 0;
  virtual Task<Result<ChatPast>> past() = 0;
  // Makes the run of the next message.
  virtual Task<Result<RunId>> say(std::string message) = 0;
  // This run was shown to its end.
  virtual void go_on_from(const RunId& run) = 0;
  // Messages and answers that came from other terminals, each returned once.
  virtual Task<Result<std::vector<Saying>>> news() = 0;
  // Everything that was said.
  virtual Task<Result<std::vector<Saying>>> sayings() = 0;
  virtual const RunId& last_run() const = 0;  // empty before the first

  virtual void choose_model(std::string id) = 0;  // of the next messages
};

using ChatThreadPtr = std::unique_ptr<ChatThread>;

// What messages of an agent have that the chat before may not have had. Its tools are all that the
// model may call, also in a chat that had others.
SpecOverrides overrides_of(const Spec& agent);

// A new chat. `api` outlives the thread.
ChatThreadPtr new_chat(sdk::RunApi& api, Spec agent);

// Goes on with a chat that is there, or the latest one if `id` is empty. not_found: there is no
// such chat.
Task<Result<ChatThreadPtr>> resume_chat(sdk::RunApi* api, std::string id, Spec agent);

}  // namespace errand::cli

#include "agent/session_history.hpp"

#include <utility>

#include "base/text.hpp"
#include "run/log/session_message.hpp"

namespace errand::agent {
namespace {

constexpr std::size_t kBytesAtOnce = 1U * 1024 * 1024;

// Files that a model has seen in an earlier turn are named and not sent again.
llm::MessagePtr as_told(Message message) {
  for (const FilePart& file : std::exchange(message.files, {})) {
    append(message.text, message.text.empty() ? "" : "\n",
           "[file: ", file.filename.empty() ? file.url : file.filename, "]");
  }
  return std::make_shared<const Message>(std::move(message));
}

}  // namespace

Task<Result<std::vector<llm::MessagePtr>>> read_history(Store* store, SessionKey session,
                                                        std::int64_t until) {
  std::vector<llm::MessagePtr> messages;
  for (std::int64_t after = 0; after < until;) {
    ERRAND_CO_TRY(auto entries, co_await store->read_history(session, after, until, kBytesAtOnce));
    if (entries.empty()) {
      co_return Error(ErrorCode::internal, cat("the history of session ", session.session.view(),
                                               " ends at entry ", after, " instead of ", until));
    }
    for (const SessionEntry& entry : entries) {
      ERRAND_CO_TRY(auto message, parse_history_entry(entry.body));
      messages.push_back(as_told(std::move(message)));
    }
    after = entries.back().n;
  }
  co_return messages;
}

std::vector<std::string> history_entries(const State& state) {
  std::vector<std::string> entries;
  for (const Message& message : opening_messages(state.created().spec)) {
    entries.push_back(to_history_entry(message));
  }
  Message answer;
  answer.role = Role::assistant;
  answer.text = state.last_text();
  entries.push_back(to_history_entry(answer));
  return entries;
}

}  // namespace errand::agent

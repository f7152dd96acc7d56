#include "cli/chat/chat_list.hpp"

#include <set>
#include <utility>

#include "base/terminal_text.hpp"
#include "cli/agent/own_run.hpp"
#include "cli/chat/chat_thread.hpp"
#include "cli/chat/fork_thread.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "cli/terminal/table.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kSummaryChars = 60;

Metadata of_chats() {
  return {{kCommandKey, kChatCommand}};
}

// Adds chats that consist of forked runs, the latest first.
void add_forked(std::vector<Row>& rows, const std::vector<sdk::RunInfo>& runs) {
  std::set<std::string> known;
  for (const sdk::RunInfo& run : runs) {
    std::string chat = forked_chat_of(run);
    if (chat.empty() || !run.session.empty() || known.size() == ChatList::kShownMax) continue;
    if (known.insert(chat).second) rows.push_back({chat, run.updated_at, ""});
  }
}

}  // namespace

Task<Result<std::string>> ChatList::render() {
  sdk::SessionQuery sessions{
      .status = SessionStatus::active, .metadata = of_chats(), .limit = kShownMax};
  ERRAND_CO_TRY(auto page, co_await session_.api().list_sessions(std::move(sessions)));
  std::vector<Row> rows{{"CHAT", "LAST USED", "ABOUT"}};
  for (const sdk::SessionInfo& chat : page.sessions) {
    rows.push_back({chat.id.str(), chat.last_used, clean_line(chat.summary, kSummaryChars)});
  }
  sdk::RunQuery forks{.metadata = of_chats(), .limit = kForksReadMax};
  ERRAND_CO_TRY(auto runs, co_await session_.api().list(std::move(forks)));
  add_forked(rows, runs.runs);
  co_return render_table(rows);
}

Task<int> ChatList::work() {
  auto table = co_await render();
  if (!table) co_return fail(with_way_out(table.error()));
  Pieces pieces{{.to = Piece::To::out, .text = std::move(*table)}};
  [[maybe_unused]] auto written = co_await session_.console().write(std::move(pieces));
  co_return kExitOk;
}

Task<void> ChatList::clean_up() {
  co_return;
}

void ChatList::on_signal(int) {
  leave_now(kExitInterrupted);
}

}  // namespace errand::cli

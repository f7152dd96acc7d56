// Runs a line of a chat as a command.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/close_names.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/chat/chat.hpp"
#include "cli/chat/conversation.hpp"
#include "cli/show/run_summary.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownModelsMax = 20;

Pieces on_stderr(std::string text) {
  return {{.to = Piece::To::err, .text = std::move(text)}};
}

Error wrong(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

std::string first_sentence(const std::string& text) {
  std::size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

Error no_model(const std::string& id, std::vector<std::string> known) {
  std::string meant = did_you_mean(id, known);
  std::string question = meant.empty() ? meant : cat("; ", meant);
  known.resize(std::min(known.size(), kShownModelsMax));
  return wrong(cat("there is no model \"", id, "\"", question)).candidates(std::move(known));
}

}  // namespace

Task<Chat::ExitCode> Chat::take(ChatLine line) {
  switch (line.kind) {
    case ChatLine::Kind::nothing: co_return ExitCode();
    case ChatLine::Kind::message: co_return co_await say(std::move(line.text));
    case ChatLine::Kind::tools: co_return co_await show_tools();
    case ChatLine::Kind::model: co_return co_await choose_model(std::move(line.text));
    case ChatLine::Kind::save: co_return co_await save(std::move(line.text));
    case ChatLine::Kind::quit: co_return co_await leave(kExitOk);
    case ChatLine::Kind::help: break;
    case ChatLine::Kind::unknown:
      co_return co_await complain(
          wrong(cat("there is no command \"", line.text, "\""))
              .hint("there are /help, /tools, /model, /save and /quit; // starts a message"));
  }
  co_await tell(on_stderr(std::string(kChatHelp)));
  co_return ExitCode();
}

Task<Chat::ExitCode> Chat::show_tools() {
  std::string out;
  for (const ToolPtr& tool : session_.tools()) {
    append(out, shown_line(tool->decl().name), "  ",
           shown_line(first_sentence(tool->decl().description)), "\n");
  }
  if (out.empty())
    out = "no tools; --files DIR, --shell, --web-fetch and --web-search lend some to a chat\n";
  co_await tell(on_stderr(std::move(out)));
  co_return ExitCode();
}

Task<Chat::ExitCode> Chat::choose_model(std::string id) {
  // A vendor's models are not listed, and only the server knows whether runs may name this one.
  const bool names_vendor = id.find('/') != std::string::npos;
  auto models = co_await session_.api().models({.named = names_vendor ? id : ""});
  if (!models) co_return co_await complain(models.error());
  std::vector<std::string> ids;
  for (const sdk::ListedModel& model : models->models) ids.push_back(model.info.id);
  bool is_known = std::find(ids.begin(), ids.end(), id) != ids.end();
  if (!id.empty() && !is_known) co_return co_await complain(no_model(id, std::move(ids)));
  if (is_known) {
    thread_->choose_model(id);
    model_ = id;
  }
  std::string others;
  for (const std::string& one : ids) {
    if (one != model_)
      append(others, others.empty() ? "; there are also: " : ", ", shown_line(one));
  }
  co_await tell(on_stderr(cat(shown_line(model_), is_known ? "" : others, "\n")));
  co_return ExitCode();
}

Task<Chat::ExitCode> Chat::save(std::string text) {
  const char* home = std::getenv("HOME");
  SaveTarget target = parse_save_target(text, home ? home : "");
  if (target.file.empty()) co_return co_await complain(wrong("/save needs the name of a file"));
  if (thread_->id().empty()) co_return co_await complain(wrong("nothing has been said yet"));
  std::error_code error;
  bool is_there = std::filesystem::exists(std::filesystem::symlink_status(target.file, error));
  if (is_there && !target.force) {
    co_return co_await complain(wrong(cat("there is a file ", target.file, " already"))
                                    .hint(cat("/save ", target.file, " --force replaces it")));
  }
  auto sayings = co_await thread_->sayings();
  if (!sayings) co_return co_await complain(sayings.error());
  std::string document = to_markdown(cat("Chat ", thread_->id()), *sayings);
  auto written = co_await session_.pool().run([file = target.file, document = std::move(document)] {
    return write_whole_file(file, document);
  });
  if (!written) co_return co_await complain(written.error());
  co_await tell(on_stderr(cat("saved to ", clean_text(target.file), "\n")));
  co_return ExitCode();
}

std::string Chat::way_back() const {
  if (is_script() || !thread_ || thread_->id().empty()) return {};
  return cat("to continue: errand chat --resume ", shown_line(thread_->id()), beginning_.flags);
}

Task<Chat::ExitCode> Chat::leave(int exit_code) {
  std::string last = way_back();
  if (!last.empty() && cost_usd_ > 0) {
    last = cat("this chat has cost ", shown_cost(cost_usd_), " here; ", last);
  }
  if (!last.empty()) co_await tell(session_.printer().aside(last));
  co_return exit_code;
}

Task<Chat::ExitCode> Chat::complain(Error error) {
  co_await tell(on_stderr(describe_for_people(error)));
  if (!is_script()) co_return ExitCode();
  bool is_usage = error.code() == ErrorCode::invalid_argument;
  co_return is_usage ? kExitUsage : exit_code_of(error);
}

}  // namespace errand::cli

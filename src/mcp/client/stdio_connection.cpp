#include "mcp/client/stdio_connection.hpp"

#include <utility>

#include "base/text.hpp"
#include "mcp/limits.hpp"

namespace errand::mcp {
namespace {

constexpr std::size_t kShownLogBytesMax = 500;

// The end of a program's output on stderr, as valid text on one line.
std::string last_words(std::string_view log) {
  if (log.size() > kShownLogBytesMax) log.remove_prefix(log.size() - kShownLogBytesMax);
  std::string out;
  while (!log.empty()) {
    std::size_t length = utf8_sequence_length(log);
    if (length > 1 || (length == 1 && log.front() >= ' ')) out.append(log.substr(0, length));
    if (length == 1 && log.front() == '\n' && log.size() > 1 && !out.empty()) out += " / ";
    log.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<StdioConnection>> StdioConnection::open(const Executor& home,
                                                               const StdioServer& server) {
  process::ProcessOptions options{.command = server.command,
                                  .environment = server.environment,
                                  .directory = server.directory,
                                  .patience = server.patience,
                                  .grace = server.grace};
  ERRAND_TRY(auto process, process::LineProcess::spawn(home, std::move(options), kMessageBytesMax));
  return std::unique_ptr<StdioConnection>(
      new StdioConnection(std::move(process), server.command.front()));
}

Result<void> StdioConnection::send(rpc::Outgoing message) {
  return process_->send(std::move(message.text));
}

Task<Result<std::optional<rpc::Received>>> StdioConnection::receive() {
  for (;;) {
    std::optional<process::Line> line = co_await process_->receive();
    if (!line) co_return how_it_ended();
    if (line->is_cut) {
      co_return std::optional<rpc::Received>(rpc::Oversized{
          .head = std::move(line->text), .tail = std::move(line->tail), .bytes = line->bytes});
    }
    if (!trim(line->text).empty()) co_return std::optional<rpc::Received>(std::move(line->text));
  }
}

void StdioConnection::close() {
  process_->begin_stop();
}

Task<void> StdioConnection::join() {
  return process_->stop();
}

Error StdioConnection::how_it_ended() const {
  process::ProcessEnd end = process_->end();
  std::string how = end.signal != 0 ? cat("was ended by signal ", end.signal)
                                    : cat("ended with exit code ", end.exit_code);
  std::string log = last_words(process_->errors());
  std::string said = log.empty() ? "" : cat("; its last words: ", log);
  return Error(ErrorCode::unavailable, cat("the program ", name_, " ", how, said))
      .reason("program_ended");
}

}  // namespace errand::mcp

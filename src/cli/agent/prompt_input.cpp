#include "cli/agent/prompt_input.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "base/whole_file.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kPromptBytesMax =
    std::size_t{32} * 1024 * 1024;  // what a server takes at most
constexpr int kSilenceMillis = 1000;

Error bad_prompt(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

// Devices such as terminals and /dev/null hold nothing that anybody meant to send.
bool is_stdin_sent() {
  struct stat status{};
  if (::fstat(STDIN_FILENO, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode);
}

// A command that waits for a pipe that nobody writes to looks as if it hung.
void note_silence() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, kSilenceMillis) != 0) return;
  [[maybe_unused]] auto ignored = write_fully(
      STDERR_FILENO, "errand: waiting for stdin, which goes with the prompt (--no-stdin: not)\n");
}

Result<std::string> read_all_of_stdin() {
  std::string text;
  std::string buffer(64 * 1024, '\0');
  for (;;) {
    ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return bad_prompt(cat("cannot read stdin: ", std::generic_category().message(errno)));
    }
    text.append(buffer, 0, static_cast<std::size_t>(count));
    if (text.size() > kPromptBytesMax) return bad_prompt("the prompt on stdin is too long");
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Result<void> check_text(std::string_view text, std::string_view what) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = text[at] == '\0' ? 0 : utf8_sequence_length(text.substr(at));
    if (length == 0) {
      return Error(ErrorCode::invalid_argument, cat(what, " is no UTF-8 text: see byte ", at + 1))
          .hint("--attach FILE sends a picture or a document with the prompt");
    }
    at += length;
  }
  return {};
}

}  // namespace

Result<std::string> read_prompt(const std::string& prompt, StdinUse use) {
  ERRAND_CHECK(check_text(prompt, "the prompt"));
  const bool is_stdin_alone = prompt == "-";
  std::string out = is_stdin_alone ? std::string() : prompt;
  if (!is_stdin_alone && out.empty()) return bad_prompt("the prompt is empty");
  if (is_stdin_alone || (use == StdinUse::joined && is_stdin_sent())) {
    if (!is_stdin_alone) note_silence();
    ERRAND_TRY(auto sent, read_all_of_stdin());
    ERRAND_CHECK(check_text(sent, "what stdin holds"));
    if (!sent.empty()) append(out, out.empty() ? "" : "\n\n", sent);
  }
  if (out.empty()) return bad_prompt("the prompt is empty");
  return out;
}

}  // namespace errand::cli

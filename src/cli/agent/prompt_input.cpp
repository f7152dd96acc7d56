#include "cli/agent/prompt_input.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/text.hpp"
#include "cli/terminal/whole_stdin.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kPromptBytesMax =
    std::size_t{32} * 1024 * 1024;  // the most that a server takes

Error bad_prompt(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

// Devices such as terminals and /dev/null hold no text that was meant to be sent.
bool is_stdin_sent() {
  struct stat status{};
  if (::fstat(STDIN_FILENO, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode);
}

constexpr StdinRead kPrompt{.what = "the prompt",
                            .silence = "waiting for the prompt on stdin",
                            .bytes_max = kPromptBytesMax};
constexpr StdinRead kRest{
    .what = "the rest of the prompt",
    .silence = "waiting for stdin, which is added to the prompt (--no-stdin ignores it)",
    .bytes_max = kPromptBytesMax};

Result<void> check_text(std::string_view text, std::string_view what) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = text[at] == '\0' ? 0 : utf8_sequence_length(text.substr(at));
    if (length == 0) {
      return Error(ErrorCode::invalid_argument, cat(what, " is not UTF-8 text: see byte ", at + 1))
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
    ERRAND_TRY(auto sent, read_whole_stdin(is_stdin_alone ? kPrompt : kRest));
    while (sent.ends_with('\n') || sent.ends_with('\r')) sent.pop_back();
    ERRAND_CHECK(check_text(sent, "what stdin holds"));
    if (!sent.empty()) append(out, out.empty() ? "" : "\n\n", sent);
  }
  if (out.empty()) return bad_prompt("the prompt is empty");
  return out;
}

}  // namespace errand::cli

#include "cli/terminal/console.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/whole_file.hpp"

namespace errand::cli {
namespace {

struct WritePieces {
  Pieces pieces;

  Result<void> operator()() const {
    for (const Piece& piece : pieces) {
      if (piece.to == Piece::To::err) {
        [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, piece.text);
      } else {
        ERRAND_CHECK(write_fully(STDOUT_FILENO, piece.text));
      }
    }
    return {};
  }
};

struct WriteQuestion {
  WritePieces before;
  int terminal;
  std::string question;

  Result<void> operator()() const {
    ERRAND_CHECK(before());
    return write_fully(terminal, question);
  }
};

}  // namespace

Task<Result<void>> Console::write(Pieces pieces) {
  if (pieces.empty()) co_return Result<void>();
  Gate::Pass pass = co_await gate_.enter();
  WritePieces work{std::move(pieces)};
  co_return co_await writer_.run(std::move(work));
}

Task<Result<void>> Console::ask(Pieces pieces, int terminal, std::string question) {
  WriteQuestion work{
      .before = {std::move(pieces)}, .terminal = terminal, .question = std::move(question)};
  co_return co_await writer_.run(std::move(work));
}

void write_now(const Pieces& pieces) {
  [[maybe_unused]] auto ignored = WritePieces{pieces}();
}

void keep_standard_streams() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open() takes the lowest free number, which is this one.
    if (::fcntl(fd, F_GETFD) == -1 && errno == EBADF) ::open("/dev/null", O_RDWR);
  }
}

bool takes_errors() {
  pollfd errors{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&errors, 1, 0) == 1 && (errors.revents & POLLOUT) != 0;
}

void ignore_broken_pipes() {
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace errand::cli

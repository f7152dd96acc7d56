#include "cli/terminal/typed_answer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <string_view>

#include "base/text.hpp"

namespace errand::cli {

Descriptor open_terminal(const std::string& path) {
  Descriptor terminal(::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (terminal.is_open() && ::isatty(terminal.get()) == 1) return terminal;
  return {};
}

Task<std::optional<std::string>> read_answer(int terminal) {
  Executor home = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor input(home, ::fcntl(terminal, F_DUPFD_CLOEXEC, 0));
  auto [error] = co_await input.async_wait(asio::posix::descriptor_base::wait_read, as_result);
  std::array<char, 4096> buffer{};  // a terminal's longest line
  ssize_t count = error ? 0 : ::read(terminal, buffer.data(), buffer.size());
  if (count <= 0) co_return std::nullopt;
  std::string_view line(buffer.data(), static_cast<std::size_t>(count));
  co_return std::string(trim(line.substr(0, line.find('\n'))));
}

}  // namespace errand::cli

#include "process/line_streams.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <deque>
#include <utility>

#include "async/wakeup.hpp"
#include "base/descriptor.hpp"
#include "base/text.hpp"

namespace errand::process {
namespace {

using boost::system::error_code;
using Stream = asio::posix::basic_stream_descriptor<Executor>;

constexpr std::size_t kReadBytes = 64U * 1024;

Result<void> assign(Stream& stream, int fd) {
  struct ::stat about{};
  if (::fstat(fd, &about) == 0 && S_ISREG(about.st_mode)) {
    return Error(ErrorCode::unavailable,
                 cat("descriptor ", fd, " is a plain file, which cannot be used for messages"));
  }
  Descriptor own(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  error_code error(errno, boost::system::generic_category());
  if (own.is_open()) {
    error = {};
    stream.assign(own.get(), error);
    if (!error) own.release();
    if (!error) stream.non_blocking(true, error);
  }
  if (!error) return {};
  return Error(ErrorCode::unavailable,
               cat("descriptor ", fd, " cannot be used for messages: ", error.message()));
}

}  // namespace

struct LineStreams::State : std::enable_shared_from_this<State> {
  State(const Executor& home, std::size_t line_bytes_max)
      : input(home), output(home), lines(line_bytes_max), written_all(home) {}

  // How much of the line the output took. An error is left to the next write, which finds it again.
  std::size_t write_now(const std::string& line) {
    error_code ignored;
    return output.write_some(asio::buffer(line), ignored);
  }
  void write_next() {
    asio::async_write(
        output, asio::buffer(queue.front()),
        [self = shared_from_this()](error_code error, std::size_t) { self->wrote(error); });
  }
  void wrote(error_code error) {
    queued_bytes -= queue.front().size();
    queue.pop_front();
    if (error) {
      error_code ignored;
      output.close(ignored);
    }
    if (!output.is_open()) queue.clear();
    if (!queue.empty()) return write_next();
    written_all.notify();
  }

  Stream input;
  Stream output;
  LineSplitter lines;
  std::deque<std::string> queue;  // the first one is being written
  std::size_t queued_bytes = 0;
  Wakeup written_all;
  bool has_ended = false;
  char memory[kReadBytes];
};

LineStreams::LineStreams(std::shared_ptr<State> state) : state_(std::move(state)) {}

LineStreams::~LineStreams() {
  close();
}

Result<std::unique_ptr<LineStreams>> LineStreams::open(const Executor& home, int input, int output,
                                                       std::size_t line_bytes_max) {
  auto state = std::make_shared<State>(home, line_bytes_max);
  ERRAND_CHECK(assign(state->input, input));
  ERRAND_CHECK(assign(state->output, output));
  return std::unique_ptr<LineStreams>(new LineStreams(std::move(state)));
}

Result<void> LineStreams::send(std::string line) {
  State& state = *state_;
  if (!state.output.is_open()) {
    return Error(ErrorCode::unavailable, "the output is closed").reason("output_closed");
  }
  if (state.queued_bytes + line.size() > kQueuedBytesMax) {
    return Error(ErrorCode::too_large, "nobody reads the output").reason("output_full");
  }
  line.push_back('\n');
  // A line that the output takes at once costs no turn of the loop.
  if (state.queue.empty()) line.erase(0, state.write_now(line));
  if (line.empty()) return {};
  state.queued_bytes += line.size();
  state.queue.push_back(std::move(line));
  if (state.queue.size() == 1) state.write_next();
  return {};
}

Task<void> LineStreams::flush() {
  std::shared_ptr<State> state = state_;
  while (!state->queue.empty() && state->output.is_open()) co_await state->written_all.wait();
}

Task<std::optional<Line>> LineStreams::receive() {
  std::shared_ptr<State> state = state_;
  for (;;) {
    if (auto line = state->lines.take()) co_return line;
    if (state->has_ended) co_return std::nullopt;
    // Awaited here and not behind a doorbell: the line is taken in the turn that brings it.
    auto [error, count] =
        co_await state->input.async_read_some(asio::buffer(state->memory), as_result);
    state->lines.feed({state->memory, count});
    // An aborted read is a cancelled task, which unwinds at the next await, or close().
    if (error && error != asio::error::operation_aborted) state->has_ended = true;
  }
}

void LineStreams::close() {
  State& state = *state_;
  state.has_ended = true;
  error_code ignored;
  state.input.close(ignored);
  state.output.close(ignored);
  state.written_all.notify();
}

}  // namespace errand::process

// errand_mcp_load: calls one tool of an MCP server again and again, so many calls in flight, and
// prints how many it makes in a second as a line of JSON.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "async/task_group.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "load/connection.hpp"

namespace errand::load {
namespace {

constexpr const char* kUsage =
    "Usage: errand_mcp_load CALLS IN_FLIGHT TOOL ARGUMENTS http PORT PATH KEY\n"
    "       errand_mcp_load CALLS IN_FLIGHT TOOL ARGUMENTS stdio COMMAND [ARGUMENT...]\n";
constexpr int kExitUsage = 2;
constexpr int kSilenceMillisMax = 30'000;

struct Options {
  std::size_t calls = 0;
  std::size_t in_flight = 0;
  std::string_view tool;
  std::string_view arguments;
};

// One call, which stands alone, as in the version 2026-07-28.
std::string call_text(const Options& options, std::size_t id) {
  return cat(R"({"jsonrpc":"2.0","id":)", id,
             R"(,"method":"tools/call","params":{"_meta":{)"
             R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
             R"("io.modelcontextprotocol/clientCapabilities":{}},"name":")",
             options.tool, R"(","arguments":)", options.arguments, "}}");
}

bool is_good(std::string_view answer) {
  return answer.find(R"("result")") != std::string_view::npos &&
         answer.find(R"("isError":true)") == std::string_view::npos;
}

Error bad_answer(std::string_view answer) {
  return {ErrorCode::unavailable, cat("not a good answer: ", answer.substr(0, 500))};
}

// ---- HTTP ---------------------------------------------------------------------------------------

class HttpCalls final {
 public:
  HttpCalls(const Options& options, std::uint16_t port, std::string_view path, std::string_view key)
      : options_(options),
        server_(asio::ip::address_v4::loopback(), port),
        head_(cat("POST ", path, " HTTP/1.1\r\nHost: 127.0.0.1:", port,
                  "\r\nAuthorization: Bearer ", key,
                  "\r\nContent-Type: application/json\r\nAccept: application/json, "
                  "text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: "
                  "tools/call\r\nMcp-Name: ",
                  options.tool, "\r\n")) {}

  Result<void> play() {
    TaskGroup tasks(io_.get_executor(), [this](const char*, const std::string& what) {
      failure_ = Error(ErrorCode::internal, what);
    });
    for (std::size_t i = 0; i < options_.in_flight; ++i) tasks.spawn("load.call", worker());
    io_.run();
    if (failure_) return *failure_;
    return {};
  }

 private:
  Task<void> worker() {
    Connection connection(io_.get_executor(), server_);
    while (begun_ < options_.calls && !failure_) {
      auto done = co_await call_once(&connection, ++begun_);
      if (!done) failure_ = done.error();
    }
  }

  Task<Result<void>> call_once(Connection* connection, std::size_t id) {
    std::string body = call_text(options_, id);
    WireRequest request{.method = net::Method::post,
                        .bytes = cat(head_, "Content-Length: ", body.size(), "\r\n\r\n", body)};
    ERRAND_CO_CHECK(co_await connection->send(std::move(request)));
    ERRAND_CO_TRY(std::string answer, co_await connection->read_all());
    if (!is_good(answer)) co_return bad_answer(answer);
    co_return Result<void>();
  }

  const Options& options_;
  const asio::ip::tcp::endpoint server_;
  const std::string head_;
  asio::io_context io_{1};
  std::size_t begun_ = 0;
  std::optional<Error> failure_;
};

// ---- A program ----------------------------------------------------------------------------------

Error system_error(std::string_view doing) {
  return {ErrorCode::internal, cat(doing, ": ", std::generic_category().message(errno))};
}

// A program that speaks on its standard streams, until this is destroyed.
class Program final {
 public:
  ~Program() {
    if (to_ >= 0) ::close(to_);
    if (from_ >= 0) ::close(from_);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Result<void> start(std::vector<char*> words) {
    int in[2];
    int out[2];
    if (::pipe(in) != 0 || ::pipe(out) != 0) return system_error("pipe");
    words.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) return system_error("fork");
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      for (int one : {in[0], in[1], out[0], out[1]}) ::close(one);
      ::execvp(words[0], words.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
    return {};
  }

  Result<void> say(std::string_view text) {
    while (!text.empty()) {
      ssize_t sent = ::write(to_, text.data(), text.size());
      if (sent < 0 && errno != EINTR) return system_error("write");
      if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
  }

  // Waits for at least one line, and gives all that are there.
  Result<std::vector<std::string>> hear() {
    std::vector<std::string> lines;
    while (lines.empty()) {
      pollfd waiting{.fd = from_, .events = POLLIN, .revents = 0};
      if (::poll(&waiting, 1, kSilenceMillisMax) == 0) {
        return Error(ErrorCode::timeout, "the program says nothing");
      }
      char piece[65536];
      ssize_t count = ::read(from_, piece, sizeof piece);
      if (count == 0) return Error(ErrorCode::unavailable, "the program has ended");
      if (count < 0 && errno != EINTR) return system_error("read");
      if (count > 0) rest_.append(piece, static_cast<std::size_t>(count));
      for (std::size_t end; (end = rest_.find('\n')) != std::string::npos;) {
        lines.push_back(rest_.substr(0, end));
        rest_.erase(0, end + 1);
      }
    }
    return lines;
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string rest_;
};

// Makes so many calls. Calls that are due together are sent together, as a busy client does.
Result<void> call_program(Program& program, const Options& options, std::size_t calls) {
  std::size_t begun = 0;
  for (std::size_t ended = 0; ended < calls;) {
    std::string due;
    for (; begun < calls && begun - ended < options.in_flight; ++begun) {
      append(due, call_text(options, begun + 1), "\n");
    }
    ERRAND_CHECK(program.say(due));
    ERRAND_TRY(auto lines, program.hear());
    for (const std::string& line : lines) {
      if (!is_good(line)) return bad_answer(line);
      ++ended;
    }
  }
  return {};
}

// ---- Both ---------------------------------------------------------------------------------------

using Seconds = std::chrono::duration<double>;

Result<Seconds> measure_http(const Options& options, std::span<char* const> words) {
  auto port = parse_integer<std::uint16_t>(words.empty() ? "" : words[0]);
  if (!port || words.size() != 3) return Error(ErrorCode::invalid_argument, "PORT PATH KEY");
  HttpCalls calls(options, *port, words[1], words[2]);
  auto begun = std::chrono::steady_clock::now();
  ERRAND_CHECK(calls.play());
  return Seconds(std::chrono::steady_clock::now() - begun);
}

Result<Seconds> measure_program(const Options& options, std::span<char* const> words) {
  if (words.empty()) return Error(ErrorCode::invalid_argument, "which COMMAND?");
  Program program;
  ERRAND_CHECK(program.start({words.begin(), words.end()}));
  // A program that has just begun is slower than it will be.
  ERRAND_CHECK(call_program(program, options, std::max<std::size_t>(options.calls / 10, 1)));
  auto begun = std::chrono::steady_clock::now();
  ERRAND_CHECK(call_program(program, options, options.calls));
  return Seconds(std::chrono::steady_clock::now() - begun);
}

Result<double> measure(std::span<char* const> words) {
  constexpr std::size_t kFixedWords = 5;
  if (words.size() < kFixedWords) return Error(ErrorCode::invalid_argument, "words are missing");
  auto calls = parse_integer<std::size_t>(words[0]);
  auto in_flight = parse_integer<std::size_t>(words[1]);
  if (!calls || !in_flight || *calls == 0 || *in_flight == 0) {
    return Error(ErrorCode::invalid_argument, "CALLS and IN_FLIGHT are numbers from 1 on");
  }
  Options options{
      .calls = *calls, .in_flight = *in_flight, .tool = words[2], .arguments = words[3]};
  std::span<char* const> rest = words.subspan(kFixedWords);
  const bool is_http = std::string_view(words[4]) == "http";
  ERRAND_TRY(Seconds took, is_http ? measure_http(options, rest) : measure_program(options, rest));
  return static_cast<double>(options.calls) / took.count();
}

}  // namespace
}  // namespace errand::load

int main(int argc, char** argv) {
  try {
    std::span<char* const> words(argv, static_cast<std::size_t>(argc));
    auto rate = errand::load::measure(words.subspan(1));
    if (!rate) {
      bool is_usage = rate.error().code() == errand::ErrorCode::invalid_argument;
      std::cerr << "errand_mcp_load: " << rate.error().message() << "\n"
                << (is_usage ? errand::load::kUsage : "");
      return is_usage ? errand::load::kExitUsage : 1;
    }
    std::string line;
    errand::json::ObjectWriter(line).field("callsPerSecond", errand::json::Value(*rate)).end();
    std::cout << line << '\n';
    return 0;
  } catch (const std::exception& bug) {
    std::fprintf(stderr, "errand_mcp_load: a bug: %s\n", bug.what());
    return 1;
  }
}

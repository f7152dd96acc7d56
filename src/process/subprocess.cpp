#include "process/subprocess.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <csignal>
#include <deque>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "async/wakeup.hpp"
#include "base/descriptor.hpp"
#include "base/text.hpp"
#include "process/find_program.hpp"

// In glibc 2.36, this header does not declare C linkage for C++.
extern "C" {
#include <sys/pidfd.h>
}

namespace errand::process {
namespace {

using boost::system::error_code;
using OutputPipe = asio::posix::stream_descriptor;
using InputSocket = asio::local::stream_protocol::socket;

constexpr int kFirstFree = 3;  // after standard input, output and error

// Moves a descriptor out of the numbers of the child's standard streams.
bool move_above_standard(Descriptor& fd) {
  if (fd.get() >= kFirstFree) return true;
  fd.reset(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstFree));
  return fd.is_open();
}

struct Ends {
  Descriptor ours;
  Descriptor childs;
};

Error cannot_start(const ProcessOptions& options, int cause) {
  std::string where = options.directory.empty() ? "" : cat(" in ", options.directory);
  return Error(ErrorCode::unavailable, cat("cannot start ", options.command.front(), where, ": ",
                                           std::generic_category().message(cause)))
      .reason("spawn_failed");
}

bool open_output(Ends& output) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return false;
  output = {.ours = Descriptor(fds[0]), .childs = Descriptor(fds[1])};
  return move_above_standard(output.childs) && ::fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0;
}

// A socket, because writing to a pipe without a reader raises a signal.
bool open_input(Ends& input) {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return false;
  input = {.ours = Descriptor(fds[0]), .childs = Descriptor(fds[1])};
  ::shutdown(fds[0], SHUT_RD);
  return move_above_standard(input.childs);
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// Describes what posix_spawn does in the child. Unlike code after fork(), it neither allocates nor
// locks, which a process with threads must not do there, and it leaves no other file open.
class SpawnPlan final {
 public:
  SpawnPlan(const ProcessOptions& options, int input, int output, int errors) {
    check(::posix_spawn_file_actions_init(&actions_));
    check(::posix_spawnattr_init(&attributes_));
    if (input >= 0) {
      check(::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO));
    } else {
      check(::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
    }
    check(::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO));
    if (options.errors != ProcessOptions::Errors::inherited) {
      int to = options.errors == ProcessOptions::Errors::apart ? errors : output;
      check(::posix_spawn_file_actions_adddup2(&actions_, to, STDERR_FILENO));
    }
    check(::posix_spawn_file_actions_addclosefrom_np(&actions_, kFirstFree));
    if (!options.directory.empty()) {
      check(::posix_spawn_file_actions_addchdir_np(&actions_, options.directory.c_str()));
    }
    reset_signals();
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  // Returns 0 or an error number.
  int run(const ProcessOptions& options, const std::string& program, pid_t& pid) const {
    if (failure_ != 0) return failure_;
    auto arguments = pointers(options.command);
    auto environment = pointers(options.environment);
    return ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments.data(),
                         environment.data());
  }

 private:
  void check(int failure) {
    if (failure_ == 0) failure_ = failure;
  }
  // The child must not inherit which signals this process ignores or blocks.
  void reset_signals() {
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    check(::posix_spawnattr_setsigmask(&attributes_, &none));
    check(::posix_spawnattr_setsigdefault(&attributes_, &all));
    check(::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  int failure_ = 0;
};

// The process groups that must not outlive a process that exits at once. A group's number stays
// valid until its leader is waited for, which happens only after the removal from this list.
class Groups final {
 public:
  void add(pid_t leader) {
    std::scoped_lock lock(mutex_);
    leaders_.insert(leader);
  }
  void remove(pid_t leader) {
    std::scoped_lock lock(mutex_);
    leaders_.erase(leader);
  }
  void kill() {
    std::scoped_lock lock(mutex_);
    for (pid_t leader : leaders_) ::kill(-leader, SIGKILL);
  }

 private:
  std::mutex mutex_;
  std::set<pid_t> leaders_;
};

Groups& groups() {
  static Groups all;
  return all;
}

ProcessEnd to_end(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return {.exit_code = info.si_status, .signal = 0};
  return {.exit_code = 0, .signal = info.si_status};
}

}  // namespace

// Its handlers hold it, so that it lives until the program has ended or the home's loop is
// destroyed. The leader is waited for only after its group is killed: until then, no other process
// gets its number.
struct Subprocess::State : std::enable_shared_from_this<State> {
  State(const Executor& home, pid_t started, const ProcessOptions& options)
      : pid(started),
        patience(options.patience),
        grace(options.grace),
        leader(home),
        output(home),
        errors(home),
        input(home),
        timer(home),
        bell(home) {
    groups().add(pid);
  }
  ~State() { finish(); }

  void send_signal(int number) const {
    if (!is_over) ::kill(-pid, number);
  }

  void watch_leader() {
    leader.async_wait(OutputPipe::wait_read, [self = shared_from_this()](error_code error) {
      if (error) return;
      self->has_exited = true;
      if (self->is_stopping) self->finish_if_done();
      self->bell.notify();
    });
  }

  void watch_output() {
    if (is_watching || !output.is_open()) return;
    is_watching = true;
    output.async_wait(OutputPipe::wait_read, [self = shared_from_this()](error_code error) {
      self->is_watching = false;
      if (error) return;
      self->is_readable = true;
      if (self->is_stopping) self->throw_output_away();
      self->bell.notify();
    });
  }

  // Read at all times, because a program blocks when nobody reads its output.
  void watch_errors() {
    if (!errors.is_open()) return;
    errors.async_wait(OutputPipe::wait_read, [self = shared_from_this()](error_code error) {
      if (error || self->is_over) return;
      self->read_errors();
      self->watch_errors();
    });
  }
  void read_errors() {
    kept_errors += read_some(errors);
    if (kept_errors.size() <= kErrorsBytesMax) return;
    kept_errors.erase(0, kept_errors.size() - kErrorsBytesMax);
  }

  // Reads what is in the pipe, up to one buffer. Closes our end when nobody holds the other end.
  static std::string read_some(OutputPipe& from) {
    if (!from.is_open()) return {};
    char bytes[kReadBytes];
    auto count = ::read(from.native_handle(), bytes, sizeof bytes);
    bool has_nothing_yet = count < 0 && (errno == EAGAIN || errno == EINTR);
    if (count <= 0 && !has_nothing_yet) close(from);
    return {bytes, count > 0 ? static_cast<std::size_t>(count) : 0};
  }
  std::string read_output() {
    is_readable = false;
    return read_some(output);
  }
  template <class Stream>
  static void close(Stream& stream) {
    error_code ignored;
    stream.close(ignored);
  }

  // How much the program's input takes at once. An error is left to the next write, which finds it
  // again.
  std::size_t write_now(const std::string& bytes) {
    auto count =
        ::send(input.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  // Writes the oldest text of the queue, then the next one.
  void write_queued() {
    asio::async_write(
        input, asio::buffer(queue.front()),
        [self = shared_from_this()](error_code error, std::size_t) { self->written(error); });
  }
  void written(error_code error) {
    queued_bytes -= queue.front().size();
    queue.pop_front();
    if (error) close(input);
    if (!input.is_open()) {
      queue.clear();
      queued_bytes = 0;
    }
    if (!queue.empty()) write_queued();
  }

  void stop() {
    if (is_over || std::exchange(is_stopping, true)) return;
    close(input);
    if (patience > milliseconds(0)) {
      after(patience, &State::terminate);
    } else {
      terminate();
    }
    watch_output();
    finish_if_done();
  }
  void terminate() {
    send_signal(SIGTERM);
    after(grace, &State::kill);
  }
  void kill() {
    is_killed = true;
    send_signal(SIGKILL);
    finish_if_done();
  }
  void after(milliseconds time, void (State::*step)()) {
    timer.expires_after(time);
    timer.async_wait([self = shared_from_this(), step](error_code error) {
      if (!error && !self->is_over) (self.get()->*step)();
    });
  }

  void throw_output_away() {
    read_output();
    watch_output();
    finish_if_done();
  }

  // Other processes of the group that hold the output open get the grace, too.
  void finish_if_done() {
    if (has_exited && (is_killed || !output.is_open())) finish();
  }

  void finish() {
    if (is_over) return;
    send_signal(SIGKILL);
    is_over = true;
    groups().remove(pid);
    siginfo_t info{};
    auto fd = static_cast<id_t>(leader.native_handle());
    ::waitid(P_PIDFD, fd, &info, WEXITED | WNOHANG);
    end = to_end(info);
    read_errors();
    close(leader);
    close(output);
    close(errors);
    close(input);
    timer.cancel();
    bell.notify();
  }

  const pid_t pid;
  const milliseconds patience;
  const milliseconds grace;
  OutputPipe leader;  // readable once the program has ended
  OutputPipe output;
  OutputPipe errors;  // open only if they are kept apart
  std::string kept_errors;
  InputSocket input;
  std::deque<std::string> queue;  // the first one is being written
  std::size_t queued_bytes = 0;
  SteadyTimer timer;
  Wakeup bell;
  std::size_t bytes_after_exit = 0;
  ProcessEnd end;
  bool has_exited = false;
  bool is_readable = false;
  bool is_watching = false;
  bool is_stopping = false;
  bool is_killed = false;
  bool is_over = false;
};

Subprocess::Subprocess(std::shared_ptr<State> state) : state_(std::move(state)) {}

Subprocess::~Subprocess() {
  state_->stop();
}

Result<std::unique_ptr<Subprocess>> Subprocess::spawn(const Executor& home,
                                                      const ProcessOptions& options) {
  ERRAND_ASSERT(!options.command.empty());
  ERRAND_TRY(const std::string program, find_program(options.command.front(), options.environment));
  Ends output;
  Ends errors;
  Ends input;
  bool has_input = options.input == ProcessOptions::Input::open;
  bool has_errors = options.errors == ProcessOptions::Errors::apart;
  if (!open_output(output) || (has_errors && !open_output(errors)) ||
      (has_input && !open_input(input))) {
    return cannot_start(options, errno);
  }
  pid_t pid = 0;
  SpawnPlan plan(options, input.childs.get(), output.childs.get(), errors.childs.get());
  int failure = plan.run(options, program, pid);
  if (failure != 0) return cannot_start(options, failure);

  Descriptor leader(::pidfd_open(pid, 0));
  if (leader.get() < 0) {
    failure = errno;
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return cannot_start(options, failure);
  }
  auto state = std::make_shared<State>(home, pid, options);
  state->leader.assign(leader.release());
  state->output.assign(output.ours.release());
  if (has_errors) state->errors.assign(errors.ours.release());
  if (has_input) state->input.assign(asio::local::stream_protocol(), input.ours.release());
  state->watch_leader();
  state->watch_errors();
  return std::unique_ptr<Subprocess>(new Subprocess(std::move(state)));
}

void Subprocess::kill_all() {
  groups().kill();
}

Task<ProcessEvent> Subprocess::next(SteadyTime deadline) {
  using Kind = ProcessEvent::Kind;
  std::shared_ptr<State> state = state_;
  for (;;) {
    if (state->is_over) co_return ProcessEvent{.kind = Kind::ended};
    if (state->has_exited || state->is_readable) {
      // The program's own output is in the pipe when it ends; other processes may write for ever.
      std::string bytes = state->read_output();
      if (state->has_exited) state->bytes_after_exit += bytes.size();
      if (!bytes.empty() && state->bytes_after_exit <= kReadBytes) {
        co_return ProcessEvent{.kind = Kind::output, .output = std::move(bytes)};
      }
      if (state->has_exited) state->finish();
      continue;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      co_return ProcessEvent{.kind = Kind::timed_out};
    }
    state->watch_output();
    co_await state->bell.wait_until(deadline);
  }
}

ProcessEnd Subprocess::end() const {
  ERRAND_ASSERT(state_->is_over);
  return state_->end;
}

Task<Result<void>> Subprocess::write(const std::string* bytes) {
  std::shared_ptr<State> state = state_;
  auto [error, count] = co_await asio::async_write(state->input, asio::buffer(*bytes), as_result);
  if (error) {
    co_return Error(ErrorCode::unavailable,
                    cat("the program does not read its input: ", error.message()))
        .reason("input_closed");
  }
  co_return Result<void>();
}

Result<void> Subprocess::send(std::string bytes) {
  State& state = *state_;
  if (!state.input.is_open()) {
    return Error(ErrorCode::unavailable, "the program does not read its input")
        .reason("input_closed");
  }
  if (state.queued_bytes + bytes.size() > kQueuedBytesMax) {
    return Error(ErrorCode::too_large, "the program does not read its input fast enough")
        .reason("input_full")
        .limit("queuedBytes", kQueuedBytesMax);
  }
  if (state.queue.empty()) bytes.erase(0, state.write_now(bytes));
  if (bytes.empty()) return {};
  state.queued_bytes += bytes.size();
  state.queue.push_back(std::move(bytes));
  if (state.queue.size() == 1) state.write_queued();
  return {};
}

void Subprocess::close_input() {
  State::close(state_->input);
}

std::string_view Subprocess::errors() const {
  return state_->kept_errors;
}

void Subprocess::begin_stop() {
  state_->stop();
}

Task<void> Subprocess::stop() {
  std::shared_ptr<State> state = state_;
  state->stop();
  while (!state->is_over) co_await state->bell.wait();
}

}  // namespace errand::process

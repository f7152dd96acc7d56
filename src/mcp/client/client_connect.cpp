// How a client connects: one attempt at a time, for all calls that wait.

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "mcp/client/client.hpp"
#include "mcp/client/sse_connection.hpp"

namespace errand::mcp {
namespace {

constexpr milliseconds kWaitedPauseMax = seconds(3);  // a longer pause fails the call at once

// Whether the server may speak the older HTTP+SSE transport.
bool may_have_sse(int failed_status) {
  return failed_status == 400 || failed_status == 404 || failed_status == 405 ||
         failed_status == 406 || failed_status == 415;
}

}  // namespace

// A task that waits for the end of an attempt.
class Client::Waiting final {
 public:
  explicit Waiting(Client& client) : client_(client), bell_(client.deps_.home) {
    at_ = client_.waiting_.insert(client_.waiting_.end(), &bell_);
  }
  ~Waiting() { client_.waiting_.erase(at_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  Task<void> wait() { return bell_.wait(); }

 private:
  Client& client_;
  Wakeup bell_;
  std::list<Wakeup*>::iterator at_;
};

Task<Result<Client::SessionPtr>> Client::connected() {
  if (session_ && session_->is_over()) drop_session();
  if (session_) co_return session_;
  if (!is_opening_) {
    SteadyTime now = deps_.timers.now();
    if (failure_ && not_before_ > now + kWaitedPauseMax) co_return *failure_;
    is_opening_ = true;
    tasks_.spawn("mcp.open", open());
  }
  Waiting waiting(*this);
  while (is_opening_) co_await waiting.wait();
  if (session_) co_return session_;
  if (failure_) co_return *failure_;
  co_return Error(ErrorCode::unavailable, "the connection to the MCP server was lost");
}

Task<void> Client::open() {
  co_await deps_.timers.sleep_until(not_before_);
  auto dialect = co_await open_any();
  if (dialect) {
    dialect_ = *dialect;
    failure_.reset();
    pause_ = milliseconds(0);
    session_ = std::exchange(opening_, nullptr);
    forget_tools();
  } else {
    note_failure(without_effects(dialect.error()));
  }
  is_opening_ = false;
  for (Wakeup* bell : waiting_) bell->notify();
}

void Client::note_failure(const Error& error) {
  failure_ = error;
  // A server that was replaced may speak another dialect than before. If it answers, if only with
  // an error, the dialect is detected again.
  const bool has_answered =
      error.code() != ErrorCode::unavailable || error.reason() == "server_error";
  if (has_answered) dialect_.reset();
  pause_ = std::clamp(pause_ * 2, options_.limits.first_pause, options_.limits.longest_pause);
  not_before_ = deps_.timers.now() + pause_;
}

Task<Result<Dialect>> Client::open_any() {
  if (const auto* server = std::get_if<HttpServer>(&options_.server)) return open_http(server);
  return open_program();
}

void Client::begin_session(std::unique_ptr<rpc::Connection> connection, HttpConnection* http) {
  SessionOptions options{.client = options_.client,
                         .features = options_.features,
                         .limits = options_.limits,
                         .on_tools_changed = [this] {
                           forget_tools();
                           options_.on_tools_changed();
                         }};
  opening_ = std::make_shared<Session>(deps_, std::move(options), std::move(connection), http);
}

Task<void> Client::give_up_session() {
  co_await opening_->stop();
  opening_.reset();
}

Task<Result<Dialect>> Client::open_http(const HttpServer* server) {
  if (dialect_ == Dialect::legacy_sse) {
    auto opened = co_await open_sse(server);
    co_return opened;
  }
  auto connection = std::make_unique<HttpConnection>(deps_, *server, options_.limits.answer_time);
  HttpConnection* http = connection.get();
  begin_session(std::move(connection), http);
  auto dialect = co_await opening_->handshake(dialect_);
  if (dialect) co_return dialect;
  int status = http->failed_status();
  co_await give_up_session();
  if (!may_have_sse(status)) co_return dialect;
  auto opened = co_await open_sse(server);
  // If the older transport does not work either, the first failure says more.
  if (!opened && opened.error().code() == ErrorCode::unsupported) co_return dialect;
  co_return opened;
}

Task<Result<Dialect>> Client::open_sse(const HttpServer* server) {
  auto connection = std::make_unique<SseConnection>(deps_, *server);
  SseConnection* sse = connection.get();
  begin_session(std::move(connection), nullptr);
  std::optional<Error> failure;
  Result<void> opened = co_await sse->open(options_.limits.answer_time);
  if (opened) {
    auto dialect = co_await opening_->handshake(Dialect::legacy);
    if (dialect) co_return Dialect::legacy_sse;
    failure = dialect.error();
  } else {
    failure = opened.error();
  }
  co_await give_up_session();
  co_return *failure;
}

Task<Result<Dialect>> Client::open_program() {
  auto dialect = co_await start_and_shake(dialect_);
  if (dialect_ || dialect || dialect.error().reason() != "program_ended") co_return dialect;
  // The program may have ended because of the question which era it speaks.
  auto legacy = co_await start_and_shake(Dialect::legacy);
  co_return legacy;
}

Task<Result<Dialect>> Client::start_and_shake(std::optional<Dialect> known) {
  ERRAND_CO_TRY(auto connection, start_program());
  begin_session(std::move(connection), nullptr);
  auto dialect = co_await opening_->handshake(known);
  if (!dialect) co_await give_up_session();
  co_return dialect;
}

Result<std::unique_ptr<rpc::Connection>> Client::start_program() {
  if (const auto* custom = std::get_if<CustomServer>(&options_.server)) return custom->connect();
  ERRAND_TRY(auto connection,
             StdioConnection::open(deps_.home, std::get<StdioServer>(options_.server)));
  return std::unique_ptr<rpc::Connection>(std::move(connection));
}

void Client::drop_session() {
  if (!session_) return;
  forget_tools();
  retired_.push_back(session_);
  tasks_.spawn("mcp.retire", retire(std::exchange(session_, nullptr)));
}

Task<void> Client::retire(SessionPtr session) {
  co_await session->stop();
  retired_.remove(session);
}

}  // namespace errand::mcp

#include "sdk/mcp/mcp_core.hpp"

#include <unistd.h>

#include <csignal>
#include <utility>

#include "async/completion.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "mcp/server/http_checks.hpp"
#include "mcp/server/http_endpoint.hpp"
#include "mcp/server/stdio_server_connection.hpp"
#include "sdk/bridge/pending.hpp"

namespace errand::sdk {
namespace {

// Writing to a client that is gone must not end the program.
void run_without_pipe_signals(asio::io_context& io) {
  sigset_t pipes;
  ::sigemptyset(&pipes);
  ::sigaddset(&pipes, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipes, nullptr);
  io.run();
}

net::Response render_error(const Error& error) {
  const bool is_wrong_method = error.reason() == "method_not_allowed";
  return mcp::refusal(is_wrong_method ? 405 : 404, rpc::code::kInvalidRequest, error.message());
}

net::HostRules rules_for(const v1::mcp::HttpOptions& options) {
  net::HostRules rules{.names = options.hosts};
  // With a key, any host name is accepted: a web page that has its own name resolve to this machine
  // has no key.
  if (!options.key.empty() && options.hosts.empty())
    rules.others = net::HostRules::Others::accepted;
  return rules;
}

}  // namespace

// The server over HTTP. Lives on the home, and is stopped before it is destroyed.
class McpCore::Http final {
 public:
  Http(Home home, const v1::mcp::HttpOptions& options, std::shared_ptr<ToolkitFeatures> features,
       TaskGroup::OnBug on_bug)
      : key_(options.key),
        features_(std::move(features)),
        log_(clock_, STDERR_FILENO, LogFormat::text, LogLevel::warning),
        endpoint_(home.executor(), rules_for(options), std::move(on_bug)),
        router_(render_error),
        server_(
            home,
            {.handler = [this](net::Request request) { return router_.handle(std::move(request)); },
             .render_error = render_error,
             .limits = {}},
            log_) {
    for (net::Method method : {net::Method::post, net::Method::get, net::Method::delete_}) {
      router_.add(method, options.path,
                  [this](net::Request request) { return handle(std::move(request)); });
    }
  }

  Result<net::Endpoint> listen(const std::string& host, std::uint16_t port) {
    return server_.listen(host, port);
  }
  mcp::HttpEndpoint& endpoint() { return endpoint_; }

  Task<void> stop() {
    co_await server_.stop(std::chrono::steady_clock::now());
    co_await endpoint_.stop();
  }

 private:
  Task<net::Response> handle(net::Request request) {
    const bool is_known =
        key_.empty() ||
        crypto::equal_in_constant_time(request.header("authorization"), cat("Bearer ", key_));
    if (!is_known) {
      net::Response refused = mcp::refusal(401, rpc::code::kInvalidRequest, "the key is wrong");
      refused.headers.push_back({"WWW-Authenticate", "Bearer"});
      co_return refused;
    }
    auto response = co_await endpoint_.handle(std::move(request),
                                              {.owner = "", .group = "", .features = features_});
    co_return response;
  }

  const std::string key_;
  const std::shared_ptr<ToolkitFeatures> features_;
  SystemClock clock_;
  Log log_;
  mcp::HttpEndpoint endpoint_;
  net::Router router_;
  net::HttpServer server_;
};

McpCore::McpCore(std::shared_ptr<McpOffer> offer)
    : offer_(std::move(offer)),
      work_(asio::make_work_guard(io_)),
      home_(io_),
      timers_(home_),
      handlers_(home_.executor(), timers_, offer_->threads_max(), HandlerServices()),
      features_(std::make_shared<ToolkitFeatures>(offer_, handlers_)),
      tasks_(home_.executor(), on_bug()),
      closing_(home_.executor(), on_bug()),
      listening_(offer_->listen([this](const McpOffer::Change& change) {
        post_from_outside(home_.executor(), [this, change] { tell(change); });
      })),
      thread_([this] { run_without_pipe_signals(io_); }) {}

McpCore::~McpCore() {
  close();
}

TaskGroup::OnBug McpCore::on_bug() const {
  return bugs_to(offer_->teller());
}

// All work that was posted before is done, or cut off, when the loop ends.
void McpCore::close() {
  listening_.reset();
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_closed_, true)) return;
    asio::post(io_, [this] { closing_.spawn("mcp.close", shut_down()); });
  }
  thread_.join();
  handlers_.close();
}

Task<void> McpCore::shut_down() {
  co_await tasks_.stop(CancelReason::shutdown);
  if (http_) co_await http_->stop();
  work_.reset();
}

void McpCore::tell(const McpOffer::Change& change) {
  const auto* list = std::get_if<mcp::ListKind>(&change);
  if (peer_ && list) session_->announce_change(*peer_, *list);
  if (peer_ && !list) session_->announce_update(*peer_, std::get<std::string>(change));
  if (http_ && list) http_->endpoint().announce_change(*list, "");
  if (http_ && !list) http_->endpoint().announce_update(std::get<std::string>(change));
}

// ---- Standard streams ---------------------------------------------------------------------------

Result<void> McpCore::serve_stdio(int input, int output) {
  auto served = std::make_shared<Pending<bool>>();
  asio::post(io_, [this, served, input, output] {
    tasks_.spawn("mcp.stdio", fill(serve_streams(input, output), Promise<bool>(served)));
  });
  auto result = served->get();
  if (!result) return result.error();
  return {};
}

Task<Result<bool>> McpCore::serve_streams(int input, int output) {
  mcp::ServerSession session(*features_);
  session_ = &session;
  ERRAND_CO_CHECK(co_await mcp::serve_stdio(&session, input, output, on_bug(),
                                            [this](rpc::Peer* peer) { peer_ = peer; }));
  co_return true;
}

// ---- HTTP ---------------------------------------------------------------------------------------

Result<net::Endpoint> McpCore::listen(const v1::mcp::HttpOptions& options) {
  const bool is_of_this_machine = net::HostRules().allows_host(options.host);
  if (options.key.empty() && !is_of_this_machine) {
    return Error(ErrorCode::invalid_argument,
                 cat("whoever reaches ", options.host, " could call without a key"))
        .hint("give HttpOptions::key, or listen at 127.0.0.1");
  }
  if (!options.path.starts_with('/')) {
    return Error(ErrorCode::invalid_argument, "a path begins with '/'");
  }
  auto listening = std::make_shared<Pending<net::Endpoint>>();
  asio::post(io_, [this, listening, &options] { listening->set(listen_at_home(options)); });
  return listening->get();
}

Result<net::Endpoint> McpCore::listen_at_home(const v1::mcp::HttpOptions& options) {
  http_ = std::make_unique<Http>(home_, options, features_, on_bug());
  return http_->listen(options.host, options.port);
}

}  // namespace errand::sdk

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "mcp/client/http_exchange.hpp"
#include "mcp/inbox.hpp"
#include "mcp/types.hpp"
#include "rpc/connection.hpp"
#include "tool/schema_work.hpp"

namespace errand::mcp {

// What the transports and clients need besides the server. All of it outlives them.
struct ClientDeps {
  Executor home;
  net::HttpClient& http;  // with the address rules that the server's URL must meet
  Timers& timers;
  TaskGroup::OnBug on_bug;
  SchemaWork schemas = {};  // where what servers send of schemas is compiled and applied
};

// Streamable HTTP, of both eras: each message is a POST of its own. A session and its server stream
// are of the legacy era. A stream that ends before its answer is resumed where the server allows
// it.
class HttpConnection final : public rpc::Connection {
 public:
  static constexpr std::size_t kExchangesMax = 512;  // at once; beyond, send() refuses
  static constexpr int kResumesMax = 20;             // of one stream, without a message in between

  // `notice_time` is how long a server may take over a message without an answer, because no call
  // limits it. After that, the message counts as sent.
  HttpConnection(ClientDeps deps, HttpServer server, milliseconds notice_time);

  Result<void> send(rpc::Outgoing message) override;
  Task<Result<std::optional<rpc::Received>>> receive() override;
  Task<void> flush() override;
  void settled(const rpc::Id& id) override;
  void close() override;
  Task<void> join() override;

  // What requests say from now on. Nothing: they do not name a version, as for initialize.
  void speak(Era era, std::optional<std::string> version);
  // Of the legacy era: opens the stream of what the server sends unasked, if it has one. Whenever
  // the stream has ended, something may have been missed: `on_gap` says so.
  void listen(std::function<void()> on_gap);
  // Whether that stream is open.
  bool is_listening() const { return is_listening_; }
  // The arguments that calls of a tool repeat as headers, in the modern era.
  void set_header_parameters(std::map<std::string, std::vector<HeaderParameter>> of_tools);

  // The status of the last answer that was not a success; 0 if there is none.
  int failed_status() const { return failed_status_; }

 private:
  struct Exchange;
  class ExchangeScope;
  enum class StreamEnd : std::uint8_t { answered, resumable };

  net::ClientRequest make(const rpc::Outgoing& message) const;
  net::ClientRequest make_get(std::string last_event_id) const;
  void add_modern_headers(const rpc::Outgoing& message, std::vector<net::Header>& headers) const;
  Task<void> post(rpc::Outgoing message);
  Task<Result<void>> exchange(rpc::Outgoing message, Exchange* state);
  Task<Result<void>> take_failure(const rpc::Id* id, net::ClientStream* stream);
  Task<Result<void>> read_stream(std::unique_ptr<net::ClientStream> stream, Exchange* state);
  Task<Result<StreamEnd>> read_events(SseSource* source, Exchange* state);
  Task<void> read_server_stream(std::function<void()> on_gap);
  Task<void> pause(std::optional<int> millis, Interrupt* interrupt);
  Task<void> end_session();

  const ClientDeps deps_;
  const HttpServer server_;
  const milliseconds notice_time_;
  Era era_ = Era::modern;
  std::optional<std::string> version_;
  std::string session_;             // empty: none
  bool has_session_ended_ = false;  // the server says so, or has been told
  std::map<std::string, std::vector<HeaderParameter>> header_parameters_;
  int failed_status_ = 0;
  std::map<std::uint64_t, Exchange*> exchanges_;
  std::uint64_t last_exchange_ = 0;
  Wakeup* flushing_ = nullptr;
  Interrupt ending_;  // of the server stream
  bool is_listening_ = false;
  Inbox inbox_;
  TaskGroup tasks_;
};

}  // namespace errand::mcp

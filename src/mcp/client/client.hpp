#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/version.hpp"
#include "mcp/client/http_connection.hpp"
#include "mcp/client/session.hpp"
#include "mcp/client/stdio_connection.hpp"
#include "run/tools/tool_decl.hpp"

namespace errand {
class SpanNotes;
}

namespace errand::mcp {

// A server that is reached in another way, such as one in this process: makes a new connection.
struct CustomServer {
  std::function<Result<std::unique_ptr<rpc::Connection>>()> connect;
};

using ServerAddress = std::variant<HttpServer, StdioServer, CustomServer>;

struct ClientOptions {
  ServerAddress server;
  Implementation client = {.name = "errand", .version = std::string(version())};
  ClientFeatures* features = nullptr;  // outlives the client; null: nothing is offered
  ClientLimits limits = {};
  std::function<void()> on_tools_changed = [] {};  // or something may have been missed
};

struct ToolList {
  std::vector<Tool> tools;
  std::vector<ToolDecl> decls;     // the same tools as a model sees them, see decls_of
  std::vector<std::string> notes;  // which tools are missing, and why

  const Tool* find(std::string_view name) const;
};
using ToolListPtr = std::shared_ptr<const ToolList>;

struct CallToolOptions {
  milliseconds silence_max = seconds(60);  // progress restarts it
  milliseconds total_max = seconds(600);
  // What a result must fit that is not a failure. Null: any result will do.
  SchemaPtr output_schema = nullptr;
  std::function<void(const rpc::Progress&)> on_progress = {};
  Interrupt* interrupt = nullptr;
  // Answers what the server asks in the middle of the call. Outlives the call. Null: the client's
  // own features do.
  ClientFeatures* features = nullptr;
  // Whom the call is made for. What a server asks without saying in which call can only be answered
  // while all calls with features of their own are of one caller.
  std::string caller = {};
  SpanNotes* span = nullptr;  // outlives the call; null: the call has no span
};

// The tools of one MCP server. Connects when it is first needed, finds out how the server speaks
// and remembers it, and connects again after the connection is lost, with pauses that grow. No call
// of a tool is sent twice, unless the server says that it did not take the first one. Lives on one
// home, outlives its calls, and must be stopped before it is destroyed.
class Client final {
 public:
  Client(ClientDeps deps, ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // unavailable, unauthorized, forbidden, not_found, timeout, unsupported: as for the transport.
  Task<Result<ServerInfo>> connect();
  // All tools, kept until the server says that they have changed. If it does not say so, they are
  // kept for as long as it allows, or for ClientLimits::unwatched_time.
  Task<Result<ToolListPtr>> tools();
  // A tool that fails is a result (`is_error`). An Error means that the call could not be made;
  // outcome_unknown: or that it was made and its result was lost. A result without structured
  // content that fits the output schema of the options is turned into a failed one.
  Task<Result<CallToolResult>> call_tool(CallToolParams params, CallToolOptions options = {});

  // Any request, with the server's answer as it is. Sent again only if the server says that it did
  // not take it.
  Task<Result<rpc::Answer>> request(std::string method, json::Object params,
                                    CallToolOptions options = {});

  // May be null.
  ClientFeatures* features() const { return options_.features; }

  Task<void> stop();

 private:
  using SessionPtr = std::shared_ptr<Session>;
  class Waiting;

  Task<Result<SessionPtr>> connected();
  Task<void> open();
  Task<Result<Dialect>> open_any();
  void begin_session(std::unique_ptr<rpc::Connection> connection, HttpConnection* http);
  Task<void> give_up_session();
  Task<Result<Dialect>> open_http(const HttpServer* server);
  Task<Result<Dialect>> open_sse(const HttpServer* server);
  Task<Result<Dialect>> open_program();
  Task<Result<Dialect>> start_and_shake(std::optional<Dialect> known);
  Result<std::unique_ptr<rpc::Connection>> start_program();
  void note_failure(const Error& error);
  void drop_session();
  Task<void> retire(SessionPtr session);

  void forget_tools();
  Task<Result<ToolListPtr>> list_tools(SessionPtr session);
  Task<Result<rpc::Answer>> ask(SessionPtr session, std::string method, json::Object params);
  void describe_call(const Session& session, SpanNotes& span) const;
  Task<Result<CallToolResult>> call_on(SessionPtr session, CallToolParams params,
                                       CallToolOptions options);
  Task<json::Object> answer_inputs(InputRequired wanted, ClientFeatures* features);
  static Task<bool> open_pages(std::vector<json::Object> pages, ClientFeatures* features);
  Task<CallToolResult> check_output(SchemaPtr schema, CallToolResult result);

  const ClientDeps deps_;
  const ClientOptions options_;
  SessionPtr session_;              // the one in use; null: none
  SessionPtr opening_;              // during the handshake
  std::list<SessionPtr> retired_;   // being stopped
  std::optional<Dialect> dialect_;  // as the server spoke last time
  bool is_opening_ = false;
  std::optional<Error> failure_;  // of the last attempt to connect
  milliseconds pause_{0};         // before the next one
  SteadyTime not_before_{};
  std::list<Wakeup*> waiting_;       // for the end of an attempt
  ToolListPtr tools_;                // null: not known, or changed
  std::uint64_t tools_changes_ = 0;  // how often they have been forgotten
  bool tools_watched_ = false;       // the server was reporting changes when the list was read
  SteadyTime tools_expire_{};        // of a list without reports of changes
  TaskGroup tasks_;
};

}  // namespace errand::mcp

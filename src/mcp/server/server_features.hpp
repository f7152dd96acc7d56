#pragma once

#include <string>
#include <variant>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "mcp/codec.hpp"
#include "mcp/server_types.hpp"
#include "rpc/peer.hpp"

namespace errand::mcp {

// A request of a client while it is being served. Lives until the task that serves it ends.
class ServedCall final {
 public:
  ServedCall(rpc::ServedRequest& request, Era era, ClientCapabilities client,
             std::optional<LogLevel> log_level)
      : request_(request), era_(era), client_(client), log_level_(log_level) {}

  Era era() const { return era_; }
  const ClientCapabilities& client() const { return client_; }
  // Raised when the client no longer wants the result.
  Interrupt& interrupt() { return request_.interrupt(); }
  void report(const rpc::Progress& progress) { request_.report(progress); }
  // No effect if the client does not want lines of this level.
  void log(LogLevel level, std::string_view logger, json::Value data);
  // Asks the client, in the legacy era: "sampling/createMessage", "elicitation/create" or
  // "roots/list". In the modern era a tool returns InputRequired instead. unsupported: the client
  // does not offer it, or the era is modern. Other errors are those of the client or of rpc::Peer.
  Task<Result<json::Value>> ask(std::string method, json::Object params);

 private:
  rpc::ServedRequest& request_;
  const Era era_;
  const ClientCapabilities client_;
  const std::optional<LogLevel> log_level_;
};

// The call of a tool, with what the client has been asked for before (modern era).
struct ServeToolParams {
  std::string name;
  json::Object arguments = {};
  json::Object meta = {};  // what the client says in `_meta`
  json::Object input_responses = {};
  std::optional<std::string> request_state = {};
};

using PromptOutcome = std::variant<GetPromptResult, InputRequired>;

// What a server has; written by its owner. What is not offered is never asked for. Called on the
// session's home. invalid_argument, not_found: told to the client as wrong parameters. Any other
// Error is told as an internal one.
class ServerFeatures {
 public:
  virtual ~ServerFeatures() = default;

  virtual ServerOffer offer() const = 0;

  virtual Task<Result<std::vector<Tool>>> tools();
  // A tool that fails gives a result that says so; an Error means that there is no such tool.
  virtual Task<Result<CallOutcome>> call_tool(ServeToolParams params, ServedCall* call);
  virtual Task<Result<std::vector<Prompt>>> prompts();
  virtual Task<Result<PromptOutcome>> get_prompt(GetPromptParams params, ServedCall* call);
  virtual Task<Result<std::vector<Resource>>> resources();
  virtual Task<Result<std::vector<ResourceTemplate>>> resource_templates();
  virtual Task<Result<std::vector<EmbeddedResource>>> read_resource(std::string uri,
                                                                    ServedCall* call);
  virtual Task<Result<Completion>> complete(CompleteParams params, ServedCall* call);
};

}  // namespace errand::mcp

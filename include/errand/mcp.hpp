#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <errand/content.hpp>
#include <errand/handler_options.hpp>
#include <errand/json.hpp>
#include <errand/tool.hpp>
#include <errand/tool_context.hpp>
#include <errand/toolkit.hpp>

namespace errand::sdk {
class McpCore;
class McpOffer;
}  // namespace errand::sdk

// A server of the Model Context Protocol in a program of the user's own.
namespace errand::ERRAND_V1::mcp {

// ---- What a server has beside its tools ---------------------------------------------------------

// By their names.
using Arguments = std::map<std::string, std::string>;

// Proposals for an argument of which `typed` is there so far. At most 100 are sent.
using Complete =
    std::function<std::vector<std::string>(const std::string& argument, const std::string& typed)>;

struct PromptArgument {
  std::string name;
  std::string description = {};
  bool required = false;
};

enum class Speaker : std::uint8_t { user, assistant };

struct PromptMessage {
  Content content = {};
  Speaker speaker = Speaker::user;
};

struct PromptResult {
  PromptResult() = default;
  PromptResult(std::string text);  // one message of the user
  PromptResult(const char* text);
  PromptResult(std::vector<PromptMessage> all);

  std::vector<PromptMessage> messages = {};
  std::string description = {};
};

// A text that users of a client pick, with blanks to fill in. What `get` throws is told to the
// client; an argument that is required and missing is refused before.
struct Prompt {
  std::string name;
  std::string title = {};
  std::string description = {};
  std::vector<PromptArgument> arguments = {};
  std::function<PromptResult(ToolContext& context, const Arguments& arguments)> get = {};
  Complete complete = {};
};

// The contents of a URI. Parts without a URI or a type have the resource's.
struct ResourceContents {
  ResourceContents(std::string text);
  ResourceContents(const char* text);
  ResourceContents(ResourceContent part);
  ResourceContents(std::vector<ResourceContent> all);

  std::vector<ResourceContent> parts;
};

struct Resource {
  std::string uri;
  std::string name;
  std::string title = {};
  std::string description = {};
  std::string mime_type = {};
  std::function<ResourceContents(ToolContext& context)> read = {};
};

// Resources whose URIs follow a pattern: "log://{day}" matches any text without a '/',
// "log://{+path}" matches any text. `read` throws an Error (not_found) for a URI without a
// resource.
struct ResourceTemplate {
  std::string uri_template;
  std::string name;
  std::string title = {};
  std::string description = {};
  std::string mime_type = {};
  std::function<ResourceContents(ToolContext& context, const std::string& uri,
                                 const Arguments& variables)>
      read = {};
  Complete complete = {};
};

// ---- What a handler may ask its client ----------------------------------------------------------

// A form for the user of the client: a schema of an object with flat properties.
struct Elicitation {
  std::string message;
  Json schema = {};
};
struct Elicited {
  enum class Action : std::uint8_t { accept, decline, cancel };

  Action action = Action::decline;
  Json content = {};  // of a form that was accepted

  bool accepted() const { return action == Action::accept; }
};

// A question to the model of the client.
struct Sampling {
  std::vector<PromptMessage> messages;
  int max_tokens = 1'000;
  std::string system_prompt = {};
  std::optional<double> temperature = {};
  std::vector<std::string> stop_sequences = {};
  std::vector<std::string> model_hints = {};
};
struct Sampled {
  std::string text = {};  // empty if the model has answered with something else
  std::optional<Content> content = {};
  std::string model = {};
  std::string stop_reason = {};
};

// A folder that the server may work in.
struct Root {
  std::string uri;  // file://...
  std::string name = {};
};
struct ListRoots {};

using Question = std::variant<Elicitation, Sampling, ListRoots>;

// The client that has called a tool, or asked for a prompt. Valid while the handler runs.
//
// Clients up to 2025-11-25 are asked while the handler waits. Clients of 2026-07-28 are asked by
// the answer to their request, and repeat the request with the user's answer: so a question ends
// the handler with an exception of type Asked, and the handler is called anew, from its beginning,
// once there is an answer. Such a handler asks before it changes anything, and asks the same
// questions in the same order. The answers of earlier rounds travel with the client, sealed against
// changes.
class Caller final {
 public:
  // Throws an Error (not_found) if the call has not come over MCP.
  static Caller of(const ToolContext& context);

  bool can_elicit() const;
  bool can_sample() const;
  bool has_roots() const;

  // Each throws an Error: unsupported if the client does not offer it, cancelled if it no longer
  // wants the result. `key` names the question within its call; empty: its number does.
  Elicited elicit(Elicitation question, std::string key = {});
  Sampled sample(Sampling question, std::string key = {});
  std::vector<Root> roots(std::string key = {});
  // Several at once. The answers are as the protocol has them.
  std::map<std::string, Json> ask(const std::map<std::string, Question>& questions);

 private:
  explicit Caller(std::shared_ptr<sdk::McpCall> call) : call_(std::move(call)) {}
  Json ask_one(Question question, std::string key);

  std::shared_ptr<sdk::McpCall> call_;
};

// Thrown through a handler whose client is asked by the answer to its request. Let it pass.
struct Asked {};

// ---- A server -----------------------------------------------------------------------------------

struct ServerOptions {
  // What clients are told. Left out: name, title and version of the first toolkit, and the
  // descriptions and rules of all as instructions.
  std::string name = {};
  std::string title = {};
  std::string version = {};
  std::string instructions = {};

  std::vector<Tool> tools = {};
  std::vector<Toolkit> toolkits = {};
  std::vector<Prompt> prompts = {};
  std::vector<Resource> resources = {};
  std::vector<ResourceTemplate> templates = {};

  // Lines of ToolContext::log go to the log of these options, and to clients that want them.
  HandlerOptions handlers = {};
  // Seals what clients keep between two rounds of questions. Processes that serve the same clients
  // share one. Empty: a random one.
  std::string state_key = {};
};

struct HttpOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  // 0: a free one
  std::string path = "/mcp";
  // What clients send as "Authorization: Bearer KEY". Empty: any client may call, which is possible
  // only on an address of this machine.
  std::string key = {};
  // Names of the server that requests may use, besides this machine's own names.
  std::vector<std::string> hosts = {};
};

// Clients are served over HTTP until this is stopped or destroyed. Not from a handler.
class HttpServing final {
 public:
  HttpServing(HttpServing&&) noexcept;
  HttpServing& operator=(HttpServing&&) = delete;
  ~HttpServing();  // stop()

  const std::string& url() const { return url_; }
  std::uint16_t port() const { return port_; }
  // Ends every session, and waits for handlers that run.
  void stop();

 private:
  friend class Server;
  HttpServing(std::shared_ptr<sdk::McpCore> core, std::string url, std::uint16_t port);

  std::shared_ptr<sdk::McpCore> core_;
  std::string url_;
  std::uint16_t port_;
};

// A server of both eras of MCP for toolkits of this program. Cheap to copy, and all copies are the
// same server; safe to use from any thread. Handlers run on threads of their own: calls run beside
// each other, save that calls of tools that are not parallel_safe wait for each other.
// ToolContext::progress reaches the client that asked for it. ToolContext::cancelled tells that the
// client has cancelled its call, or has left.
class Server final {
 public:
  // Throws an Error: conflict for two tools, prompts or resources of a name, invalid_argument for a
  // name that is missing or a template that is wrong.
  explicit Server(ServerOptions options);
  Server(Toolkit toolkit);

  const std::string& name() const;

  // Serves the client at the program's standard streams, or at two other descriptors, until its
  // input ends. Then requests that are not answered have a second left, and handlers that run are
  // waited for. Nothing else may write to the output. Throws an Error (unavailable) if the
  // descriptors cannot be used.
  void serve_stdio() const;
  void serve_stdio(int input, int output) const;
  // Serves clients over Streamable HTTP. Throws an Error: unavailable if the address is taken,
  // invalid_argument if others could call without a key.
  [[nodiscard]] HttpServing serve_http(HttpOptions options = {}) const;

  // Each replaces all that there was, and tells the clients. Calls that run go on. Throw as the
  // constructor does, and change nothing then.
  void set_toolkits(std::vector<Toolkit> toolkits) const;
  void set_prompts(std::vector<Prompt> prompts) const;
  void set_resources(std::vector<Resource> resources,
                     std::vector<ResourceTemplate> templates) const;
  // Tells the clients that have subscribed to the resource that it has changed.
  void resource_updated(const std::string& uri) const;

 private:
  friend class sdk::McpOffer;
  std::shared_ptr<sdk::McpOffer> offer_;
};

}  // namespace errand::ERRAND_V1::mcp

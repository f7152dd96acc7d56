#include "mcp/client/mcp_tools.hpp"

#include <algorithm>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "mcp/tool_result.hpp"

namespace errand::mcp {
namespace {

std::string key_of(const McpServer& server, const Principal& who) {
  std::string key = cat(who.workspace.view(), "\n", server.url);
  for (const auto& [name, value] : server.headers) append(key, "\n", name, ":", value);
  return key;
}

std::shared_ptr<const std::string> bytes_of(const std::string& base64) {
  auto bytes = from_base64(base64);
  return bytes ? std::make_shared<const std::string>(std::move(*bytes)) : nullptr;
}

// Content of the protocol as tools here give it back.
struct ToContent {
  errand::Content operator()(const TextContent& part) const {
    return errand::TextContent{part.text};
  }
  errand::Content operator()(const ImageContent& part) const {
    return file(FileContent::Kind::image, part.mime_type, part.base64);
  }
  errand::Content operator()(const AudioContent& part) const {
    return file(FileContent::Kind::audio, part.mime_type, part.base64);
  }
  errand::Content operator()(const ResourceLink& part) const {
    return LinkContent{.uri = part.uri,
                       .name = part.title.empty() ? part.name : part.title,
                       .description = part.description,
                       .mime_type = part.mime_type};
  }
  errand::Content operator()(const EmbeddedResource& part) const {
    ResourceContent resource{.uri = part.uri, .mime_type = part.mime_type};
    if (const auto* text = std::get_if<TextBody>(&part.body)) {
      resource.text = text->text;
      return resource;
    }
    auto bytes = bytes_of(std::get<BlobBody>(part.body).base64);
    if (!bytes) return damaged(part.uri);
    resource.file = FilePart{.mime_type = part.mime_type, .bytes = std::move(bytes)};
    return resource;
  }
  errand::Content operator()(const UnknownContent& part) const {
    return errand::TextContent{cat("[content of an unknown type: ", part.type, "]")};
  }

 private:
  static errand::Content file(FileContent::Kind kind, const std::string& mime_type,
                              const std::string& base64) {
    auto bytes = bytes_of(base64);
    if (!bytes) return damaged(mime_type);
    return FileContent{.kind = kind, .file = {.mime_type = mime_type, .bytes = std::move(bytes)}};
  }
  static errand::Content damaged(std::string_view what) {
    return errand::TextContent{cat("[", what, " is left out: it is not base64]")};
  }
};

ToolOutcome outcome_of(CallToolResult result) {
  ToolOutcome outcome{.kind = result.is_error ? ToolOutcome::Kind::failed : ToolOutcome::Kind::ok};
  for (const Content& part : result.content) {
    outcome.content.push_back(std::visit(ToContent(), part));
  }
  if (outcome.content.empty() && result.structured_content) {
    outcome.content.emplace_back(JsonContent{*result.structured_content});
  }
  outcome.structured = std::move(result.structured_content);
  return outcome;
}

ToolOutcome outcome_of(const Error& error) {
  if (error.code() == ErrorCode::outcome_unknown || error.code() == ErrorCode::timeout) {
    return failed_outcome(cat("The MCP server did not answer (", error.message(),
                              "). The call may or may not have taken effect."));
  }
  return failed_outcome(cat("The MCP server could not be asked: ", error.message()));
}

// One tool of a server.
class McpTool final : public errand::Tool {
 public:
  // `source` outlives the tool.
  McpTool(McpTools& source, McpServer server, Principal who, ToolDecl decl)
      : source_(source), server_(std::move(server)), who_(std::move(who)), decl_(std::move(decl)) {}

  const ToolDecl& decl() const override { return decl_; }

  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    CallToolOptions options{.silence_max = decl_.annotations.timeout.value_or(kHostToolTimeout)};
    options.total_max = options.silence_max;
    if (ProgressSink* sink = context.progress) {
      options.on_progress = [sink](const rpc::Progress& progress) {
        sink->report(
            {.message = progress.message, .progress = progress.progress, .total = progress.total});
      };
    }
    McpServer server = server_;
    if (context.secrets) {
      auto headers = co_await context.secrets->fill(server.headers);
      if (!headers) co_return failed_outcome(headers.error().describe());
      server.headers = std::move(*headers);
    }
    McpTools::ClientPtr client = source_.client_of(server, who_);
    auto result = co_await client->call_tool(
        {.name = decl_.origin.upstream, .arguments = std::move(call.arguments)}, options);
    if (!result) co_return outcome_of(result.error());
    co_return outcome_of(std::move(*result));
  }

 private:
  McpTools& source_;
  const McpServer server_;
  const Principal who_;
  const ToolDecl decl_;
};

// A schema whose root is not an object is offered as a permissive object, as vendors want one.
SchemaPtr input_schema_of(const Tool& tool) {
  const json::Value* type = tool.input_schema.if_contains("type");
  if (type && *type == "object") return share_schema(tool.input_schema);
  return share_schema({{"type", "object"}, {"properties", json::Object()}});
}

ToolDecl decl_of(const Tool& tool, std::string name) {
  ToolDecl decl{.name = std::move(name),
                .title = tool.title,
                .description = tool.description,
                .input_schema = input_schema_of(tool)};
  if (tool.output_schema) decl.output_schema = share_schema(*tool.output_schema);
  decl.annotations = {.read_only = tool.annotations.read_only.value_or(false),
                      .idempotent = tool.annotations.idempotent.value_or(false)};
  decl.annotations.destructive = tool.annotations.destructive.value_or(false);
  decl.origin.upstream = tool.name;
  return decl;
}

}  // namespace

McpTools::McpTools(ClientDeps deps, SecretSource* secrets)
    : deps_(deps), secrets_(secrets), ending_(deps.home, deps.on_bug) {}

McpTools::ClientPtr McpTools::client_of(const McpServer& server, const Principal& who) {
  std::string key = key_of(server, who);
  auto known = std::find_if(clients_.begin(), clients_.end(),
                            [&key](const Known& one) { return one.key == key; });
  if (known != clients_.end()) {
    clients_.splice(clients_.begin(), clients_, known);
    return clients_.front().client;
  }
  HttpServer http{.url = server.url};
  for (const auto& [name, value] : server.headers) http.headers.push_back({name, value});
  ClientOptions options{.server = std::move(http)};
  clients_.push_front(
      {.key = std::move(key), .client = std::make_shared<Client>(deps_, std::move(options))});
  if (clients_.size() > kClientsMax) {
    ending_.spawn("mcp.end", end(std::move(clients_.back().client)));
    clients_.pop_back();
  }
  return clients_.front().client;
}

Task<void> McpTools::end(ClientPtr client) {
  co_await client->stop();
}

Task<Result<std::vector<ToolDecl>>> McpTools::ask(ToolRef ref, Principal who) {
  auto* server = std::get_if<McpServer>(&ref);
  if (!server) co_return std::vector<ToolDecl>();
  CallSecrets secrets(secrets_, who.workspace);
  ERRAND_CO_TRY(server->headers, co_await secrets.fill(std::move(server->headers)));
  ClientPtr client = client_of(*server, who);
  auto asked = co_await client->tools();
  if (!asked) {
    co_return Error(asked.error().code(), secrets.blot_out(asked.error().message()));
  }
  const auto& list = *asked;
  std::vector<std::string> names = vendor_names(server->name, list->tools);
  std::vector<ToolDecl> decls;
  for (std::size_t i = 0; i < list->tools.size(); ++i) {
    const Tool& tool = list->tools[i];
    const auto& filter = server->tool_filter;
    bool is_wanted =
        !filter || std::find(filter->begin(), filter->end(), tool.name) != filter->end();
    if (is_wanted) decls.push_back(decl_of(tool, names[i]));
  }
  co_return decls;
}

ToolPtr McpTools::open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) {
  const auto* server = std::get_if<McpServer>(&ref);
  if (!server) return nullptr;
  return std::make_shared<McpTool>(*this, *server, who, binding);
}

Task<void> McpTools::stop() {
  for (Known& known : std::exchange(clients_, {})) {
    ending_.spawn("mcp.end", end(std::move(known.client)));
  }
  co_await ending_.join();
}

}  // namespace errand::mcp

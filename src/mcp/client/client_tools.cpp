#include "mcp/client/client_tools.hpp"

#include <utility>

#include "async/read_aside.hpp"
#include "base/base64.hpp"
#include "base/text.hpp"
#include "mcp/client/call_features.hpp"

namespace errand::mcp {
namespace {

std::shared_ptr<const std::string> bytes_of(const std::string& base64) {
  auto bytes = from_base64(base64);
  return bytes ? std::make_shared<const std::string>(std::move(*bytes)) : nullptr;
}

// Turns content of the protocol into the content of a tool.
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
  McpTool(FindClient find, ToolDecl decl, milliseconds silence_max)
      : find_(std::move(find)), decl_(std::move(decl)), silence_max_(silence_max) {}

  const ToolDecl& decl() const override { return decl_; }

  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    CallToolOptions options{.silence_max = silence_max_,
                            .total_max = decl_.annotations.timeout.value_or(kCallTimeMax),
                            .output_schema = decl_.output_schema,
                            .span = context.span};
    if (ProgressSink* sink = context.progress) {
      options.on_progress = [sink](const rpc::Progress& progress) {
        sink->report(
            {.message = progress.message, .progress = progress.progress, .total = progress.total});
      };
    }
    auto client = co_await find_(context.secrets, context.questions ? Caller::run : Caller::other);
    if (!client) co_return failed_outcome(client.error().describe());
    std::optional<CallFeatures> features;
    if (ClientFeatures* own = (*client)->features(); own && context.questions) {
      features.emplace(*own, *context.questions, decl_.name);
      options.features = &*features;
      options.caller = call.run.str();
    }
    CallToolParams params{.name = decl_.origin.upstream,
                          .arguments = std::move(call.arguments),
                          .meta = {{kIdempotencyKey, call.id.view()}}};
    if (context.who.trace) params.meta["traceparent"] = to_traceparent(*context.who.trace);
    auto result = co_await (*client)->call_tool(std::move(params), options);
    if (!result) co_return outcome_of(result.error());
    co_return outcome_of(std::move(*result));
  }

 private:
  const FindClient find_;
  const ToolDecl decl_;
  const milliseconds silence_max_;
};

Task<Result<std::shared_ptr<Client>>> same_client(std::shared_ptr<Client> client) {
  co_return client;
}

ToolDecl decl_of(const Tool& tool) {
  ToolDecl decl{.name = tool.name,
                .title = tool.title,
                .description = tool.description,
                .input_schema = share_schema(tool.input_schema)};
  if (tool.output_schema) decl.output_schema = share_schema(*tool.output_schema);
  decl.annotations = {.read_only = tool.annotations.read_only.value_or(false),
                      .idempotent = tool.annotations.idempotent.value_or(false)};
  decl.annotations.destructive = tool.annotations.destructive.value_or(false);
  decl.annotations.timeout = kCallTimeMax;
  decl.origin.upstream = tool.name;
  return decl;
}

}  // namespace

Task<Result<std::vector<ToolDecl>>> decls_of(SchemaWork work,
                                             std::shared_ptr<const std::vector<Tool>> tools) {
  auto make = [cache = work.cache, tools = std::move(tools)] {
    std::vector<ToolDecl> decls;
    for (const Tool& tool : *tools) decls.push_back(decl_of(tool));
    return Result<std::vector<ToolDecl>>(usable_schemas(*cache, std::move(decls)));
  };
  auto decls = co_await run_aside(work.pool, std::move(make));
  co_return decls;
}

ToolPtr make_tool(FindClient find, ToolDecl decl, milliseconds silence_max) {
  return std::make_shared<McpTool>(std::move(find), std::move(decl), silence_max);
}

ToolPtr make_tool(std::shared_ptr<Client> client, ToolDecl decl) {
  return make_tool(
      [client = std::move(client)](CallSecrets*, Caller) { return same_client(client); },
      std::move(decl));
}

}  // namespace errand::mcp

#include "room/client/tools_host.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "room/client/room_outcome.hpp"
#include "room/wire/toolkit.hpp"
#include "tool/input_schema.hpp"

namespace errand::room {
namespace {

// A tool of a server is hosted under the server's name for it, because the toolkit has a name
// already.
const std::string& hosted_name(const ToolDecl& decl) {
  return decl.origin.upstream.empty() ? decl.name : decl.origin.upstream;
}

json::Array texts(const std::vector<std::string>& list) {
  json::Array out;
  for (const std::string& one : list) out.emplace_back(one);
  return out;
}

json::Object json_spec(const SchemaPtr& schema) {
  json::Object spec{{"types", json::Array{"json"}}, {"stream", false}};
  spec["schema"] = *schema;
  return spec;
}

json::Object tool_members(const ToolDecl& tool) {
  json::Object out{{"title", tool.title.empty() ? hosted_name(tool) : tool.title},
                   {"description", tool.description},
                   {"input_spec", json_spec(tool.input_schema)},
                   {"output_spec", nullptr}};
  if (tool.output_schema) out["output_spec"] = json_spec(tool.output_schema);
  if (!tool.rules.empty()) out["rules"] = texts(tool.rules);
  return out;
}

void add_name(std::string& list, const std::string& name) {
  append(list, list.empty() ? "" : ",", name);
}

json::Object registration_of(const ToolkitOffer& offer) {
  json::Object tools;
  std::string read_only;
  std::string idempotent;
  std::string cancel_siblings;
  std::string timeouts;
  for (const ToolPtr& tool : offer.tools) {
    const ToolDecl& decl = tool->decl();
    tools[hosted_name(decl)] = tool_members(decl);
    if (decl.annotations.read_only) add_name(read_only, hosted_name(decl));
    if (decl.annotations.idempotent) add_name(idempotent, hosted_name(decl));
    if (decl.annotations.cancel_siblings) add_name(cancel_siblings, hosted_name(decl));
    if (const auto timeout = decl.annotations.timeout) {
      add_name(timeouts, cat(hosted_name(decl), "=", timeout->count()));
    }
  }
  for (const auto& tool : offer.content_tools) tools[tool->name()] = tool->members();
  json::Object annotations = offer.annotations;
  annotations[kCancelAnnotation] = "true";
  if (!read_only.empty()) annotations[kReadOnlyAnnotation] = read_only;
  if (!idempotent.empty()) annotations[kIdempotentAnnotation] = idempotent;
  if (!cancel_siblings.empty()) annotations[kCancelSiblingsAnnotation] = cancel_siblings;
  if (!timeouts.empty()) annotations[kTimeoutAnnotation] = timeouts;
  json::Object out{{"name", offer.name},
                   {"title", offer.title.empty() ? offer.name : offer.title},
                   {"description", offer.description},
                   {"public", offer.is_public},
                   {"annotations", std::move(annotations)},
                   {"tools", std::move(tools)}};
  if (!offer.thumbnail_url.empty()) out["thumbnail_url"] = offer.thumbnail_url;
  if (!offer.rules.empty()) out["rules"] = texts(offer.rules);
  return out;
}

// Passes on the call's progress to the caller.
class CallerProgress final : public ProgressSink {
 public:
  explicit CallerProgress(HostedCall& call) : call_(call) {}

  void report(ProgressReport report) override {
    json::Object event{{"message", report.message}};
    if (report.progress) event["progress"] = *report.progress;
    if (report.total) event["total"] = *report.total;
    call_.report(std::move(event));
  }

 private:
  HostedCall& call_;
};

class ToolsToolkit final : public HostedToolkit {
 public:
  ToolsToolkit(RoomClient& client, ToolkitOffer offer)
      : client_(client), offer_(std::move(offer)), registration_(registration_of(offer_)) {}

  json::Object registration() const override { return registration_; }

  Task<Content> call(HostedCallPtr call) override {
    const HostedCall::Params& params = call->params();
    const Peer peer = client_.peer(params.caller_id);
    RoomCaller caller{.room = client_.room_name(),
                      .participant_id = params.caller_id,
                      .name = peer.name(),
                      .role = peer.is_known() ? peer.role : "",
                      .attributes = peer.attributes,
                      .on_behalf_of = params.on_behalf_of_id,
                      .context = params.caller_context};
    CallerProgress progress(*call);
    ToolContext context{.who = {.trace = parse_traceparent(params.traceparent)},
                        .progress = &progress,
                        .caller = &caller};
    for (const ToolPtr& tool : offer_.tools) {
      if (hosted_name(tool->decl()) != params.tool) continue;
      co_return co_await invoke(tool, call, context);
    }
    for (const auto& tool : offer_.content_tools) {
      if (tool->name() == params.tool) co_return co_await tool->serve(call, context);
    }
    co_return error_content(RoomCode::invalid_request, cat("tool ", params.tool, " was not found"));
  }

 private:
  Task<Content> invoke(ToolPtr tool, HostedCallPtr call, ToolContext context) const {
    const HostedCall::Params& params = call->params();
    auto arguments = arguments_for(tool->decl(), params.arguments);
    if (!arguments) {
      co_return error_content(RoomCode::invalid_request, arguments.error().describe());
    }
    ToolCall made{.run = {}, .id = {}, .arguments = std::move(*arguments)};
    if (auto id = ToolUseId::parse(params.id)) made.id = *id;
    ToolOutcome outcome = co_await tool->invoke(std::move(made), context);
    co_return to_content(std::move(outcome));
  }

  Result<json::Object> arguments_for(const ToolDecl& decl, const Content& content) const {
    json::Object arguments;
    const ContentKind kind = kind_of(content.header);
    if (kind == ContentKind::json && content.header.at("json").is_object()) {
      arguments = content.header.at("json").get_object();
    } else if (kind != ContentKind::empty) {
      return Error(ErrorCode::invalid_argument,
                   cat("tool '", decl.name, "' takes a JSON object as its input"));
    }
    if (!offer_.schemas) return arguments;
    ERRAND_TRY(auto schema, compile_input_schema(*offer_.schemas, *decl.input_schema));
    auto errors = schema->validate(json::Value(arguments));
    if (errors.empty()) return arguments;
    return Error(
        ErrorCode::invalid_argument,
        cat("tool '", decl.name, "' input does not match input_schema: ", json::describe(errors)));
  }

  RoomClient& client_;
  const ToolkitOffer offer_;
  const json::Object registration_;
};

}  // namespace

std::shared_ptr<HostedToolkit> make_hosted_toolkit(RoomClient& client, ToolkitOffer offer) {
  return std::make_shared<ToolsToolkit>(client, std::move(offer));
}

}  // namespace errand::room

#include "sdk/room/content_tools.hpp"

#include <algorithm>
#include <utility>

#include <errand/tool.hpp>

#include "base/text.hpp"
#include "room/client/room_outcome.hpp"
#include "sdk/api/values.hpp"
#include "sdk/client/read_reply.hpp"
#include "sdk/room/room_core.hpp"
#include "sdk/room/room_values.hpp"
#include "tool/input_schema.hpp"

namespace errand::sdk {
namespace {

// What a handler has returned.
struct Answer {
  v1::RoomContent content = v1::EmptyContent{};
};

Task<Result<std::optional<room::Content>>> next_input(room::HostedCallPtr call) {
  auto item = co_await call->next_input();
  co_return item;
}

Task<Result<bool>> write_item(room::HostedCallPtr call, room::Content item) {
  call->write(item);
  co_return true;
}

Error input_of_another_kind(const v1::ContentTool& tool, std::string_view what) {
  return {ErrorCode::invalid_argument, cat("tool '", tool.name, "' ", what)};
}

class HandlerContentTool final : public room::ContentTool {
 public:
  HandlerContentTool(RoomCore& room, Handlers& handlers, v1::ContentTool tool, ContentCheck input,
                     ContentCheck output)
      : room_(room),
        handlers_(handlers),
        tool_(std::move(tool)),
        input_(std::make_shared<const ContentCheck>(std::move(input))),
        output_(std::make_shared<const ContentCheck>(std::move(output))) {}

  const std::string& name() const override { return tool_.name; }

  json::Object members() const override {
    json::Object out{{"title", tool_.title.empty() ? tool_.name : tool_.title},
                     {"description", tool_.description},
                     {"input_spec", input_->members()},
                     {"output_spec", output_->members()}};
    json::Array rules;
    for (const std::string& rule : tool_.rules) rules.emplace_back(rule);
    if (!rules.empty()) out["rules"] = std::move(rules);
    return out;
  }

  Task<room::Content> serve(room::HostedCallPtr call, errand::ToolContext context) override {
    auto input = input_for(call->params().arguments);
    if (!input) {
      co_return room::error_content(room::RoomCode::invalid_request, input.error().message());
    }
    auto core = std::make_shared<HostedCallCore>(room_.shared_from_this(), call, input_, output_);
    auto answer = std::make_shared<Answer>();
    errand::ToolCall made{.run = {}, .id = {}, .arguments = {}};
    if (auto id = ToolUseId::parse(call->params().id)) made.id = *id;
    errand::ToolOutcome outcome = co_await handlers_.call(
        {.handler = handler_for(core, std::move(*input), answer),
         .call = std::move(made),
         .tool = tool_.name,
         .deadline = context.deadline,
         .progress = context.progress,
         .traceparent = context.who.trace ? to_traceparent(*context.who.trace) : "",
         .caller = context.caller});
    if (!outcome.ok()) co_return room::to_content(std::move(outcome));
    if (output_->spec().stream) {
      call->open();  // a stream may have no items
      co_return room::empty_content();
    }
    auto checked = output_->check(answer->content);
    if (!checked) {
      co_return room::error_content(
          room::RoomCode::operation_failed,
          cat("the answer of tool '", tool_.name, "' is ", checked.error().message()));
    }
    co_return room_content(answer->content);
  }

 private:
  Result<v1::RoomContent> input_for(const room::Content& arguments) const {
    const bool is_stream = room::is_open(arguments.header);
    if (is_stream != input_->spec().stream) {
      return input_of_another_kind(
          tool_, is_stream ? "does not take streamed input" : "takes streamed input");
    }
    if (is_stream) return v1::RoomContent(v1::EmptyContent{});
    ERRAND_TRY(auto input, public_content(arguments));
    auto checked = input_->check(input);
    if (!checked) {
      return input_of_another_kind(tool_, cat("input is ", checked.error().message()));
    }
    return input;
  }

  // Makes a tool for each call, which turns exceptions of the handler into results.
  Handler handler_for(std::shared_ptr<HostedCallCore> core, v1::RoomContent input,
                      std::shared_ptr<Answer> answer) const {
    v1::Tool once =
        v1::tool(tool_.name, tool_.description, any_object(),
                 [core = std::move(core), input = std::move(input), answer = std::move(answer),
                  handler = tool_.handler](v1::ToolContext& context, const v1::Json&) {
                   v1::ContentToolCall call(context, core, input);
                   answer->content = handler(call);
                   return v1::ToolResult{};
                 });
    return [once = std::move(once)](const std::shared_ptr<v1::ToolContext>& context,
                                    const v1::Json&, HandlerDone done) {
      once.start(context, v1::Json(v1::JsonObject()), std::move(done));
    };
  }

  static v1::Json any_object() { return v1::JsonObject{{"type", "object"}}; }

  RoomCore& room_;
  Handlers& handlers_;
  const v1::ContentTool tool_;
  const std::shared_ptr<const ContentCheck> input_;
  const std::shared_ptr<const ContentCheck> output_;
};

}  // namespace

// ---- ContentCheck -------------------------------------------------------------------------------

Result<ContentCheck> ContentCheck::make(v1::RoomContentSpec spec, json::SchemaCache& schemas) {
  if (spec.types.empty()) {
    return Error(ErrorCode::invalid_argument, "a tool of a room needs a type of content");
  }
  ContentCheck made(std::move(spec));
  if (!made.spec_.schema) return made;
  const json::Value schema = v1::detail::to_value(*made.spec_.schema);
  if (!schema.is_object()) {
    return Error(ErrorCode::invalid_argument, "the schema of a content has to be an object");
  }
  ERRAND_TRY(made.schema_, compile_input_schema(schemas, schema.get_object()));
  return made;
}

Result<void> ContentCheck::check(const v1::RoomContent& content) const {
  const v1::RoomContentType type = type_of(content);
  if (std::find(spec_.types.begin(), spec_.types.end(), type) == spec_.types.end()) {
    return Error(ErrorCode::invalid_argument, cat("of type ", to_string(type)));
  }
  const auto* json = std::get_if<v1::JsonContent>(&content);
  if (!json || !schema_) return {};
  auto errors = schema_->validate(v1::detail::to_value(json->value));
  if (errors.empty()) return {};
  return Error(ErrorCode::invalid_argument,
               cat("not as its schema says: ", json::describe(errors)));
}

json::Object ContentCheck::members() const {
  json::Array types;
  for (v1::RoomContentType type : spec_.types) types.emplace_back(to_string(type));
  json::Object out{{"types", std::move(types)}, {"stream", spec_.stream}};
  if (spec_.schema) out["schema"] = v1::detail::to_value(*spec_.schema);
  return out;
}

// ---- HostedCallCore -----------------------------------------------------------------------------

std::optional<v1::RoomContent> HostedCallCore::read() {
  using Item = std::optional<room::Content>;
  auto item = value_or_throw(room_->wait<Item>([call = call_] { return next_input(call); }));
  if (!item) return std::nullopt;
  auto content = value_or_throw(public_content(std::move(*item)));
  auto checked = input_->check(content);
  if (!checked) {
    throw v1::Error(v1::ErrorCode::invalid_argument,
                    cat("an item of the input is ", checked.error().message()));
  }
  return content;
}

void HostedCallCore::write(const v1::RoomContent& item) {
  if (!output_->spec().stream) {
    throw v1::Error(v1::ErrorCode::unsupported, "the output of the tool is no stream");
  }
  auto checked = output_->check(item);
  if (!checked) {
    throw v1::Error(v1::ErrorCode::invalid_argument,
                    cat("an item of the output is ", checked.error().message()));
  }
  value_or_throw(room_->wait<bool>(
      [call = call_, made = room_content(item)] { return write_item(call, made); }));
}

Result<std::shared_ptr<room::ContentTool>> bridge_content_tool(RoomCore& room, Handlers& handlers,
                                                               json::SchemaCache& schemas,
                                                               v1::ContentTool tool) {
  if (tool.name.empty() || !tool.handler) {
    return Error(ErrorCode::invalid_argument, "a tool of a room needs a name and a handler");
  }
  ERRAND_TRY(auto input, ContentCheck::make(tool.input, schemas));
  ERRAND_TRY(auto output, ContentCheck::make(tool.output, schemas));
  return std::shared_ptr<room::ContentTool>(std::make_shared<HandlerContentTool>(
      room, handlers, std::move(tool), std::move(input), std::move(output)));
}

}  // namespace errand::sdk

namespace errand::v1 {

ContentToolCall::ContentToolCall(ToolContext& context, std::shared_ptr<sdk::HostedCallCore> core,
                                 RoomContent input)
    : context_(context), core_(std::move(core)), input_(std::move(input)) {}
ContentToolCall::~ContentToolCall() = default;

std::optional<RoomContent> ContentToolCall::read() {
  context_.throw_if_cancelled();
  auto item = core_->read();
  context_.throw_if_cancelled();
  return item;
}

void ContentToolCall::write(const RoomContent& item) {
  context_.throw_if_cancelled();
  core_->write(item);
}

}  // namespace errand::v1

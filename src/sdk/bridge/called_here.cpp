#include "sdk/bridge/called_here.hpp"

#include <boost/asio/io_context.hpp>
#include <optional>
#include <utility>

#include "async/task_group.hpp"
#include "sdk/api/tool_state.hpp"
#include "sdk/api/values.hpp"

namespace errand::sdk {
namespace {

// How often a call checks whether its result is still wanted.
constexpr milliseconds kLookEvery{20};

struct ToPublicContent {
  v1::Content operator()(TextContent& one) const { return v1::TextContent{std::move(one.text)}; }
  v1::Content operator()(JsonContent& one) const {
    return v1::JsonContent{v1::detail::from_value(one.value)};
  }
  v1::Content operator()(FileContent& one) const {
    std::string bytes = one.file.bytes ? *one.file.bytes : std::string();
    switch (one.kind) {
      case FileContent::Kind::image:
        return v1::ImageContent{.bytes = std::move(bytes), .mime_type = one.file.mime_type};
      case FileContent::Kind::audio:
        return v1::AudioContent{.bytes = std::move(bytes), .mime_type = one.file.mime_type};
      case FileContent::Kind::file: break;
    }
    return v1::FileContent{
        .bytes = std::move(bytes), .mime_type = one.file.mime_type, .name = one.file.filename};
  }
  v1::Content operator()(LinkContent& one) const {
    return v1::LinkContent{.url = std::move(one.uri),
                           .name = std::move(one.name),
                           .description = std::move(one.description),
                           .mime_type = std::move(one.mime_type)};
  }
  v1::Content operator()(ResourceContent& one) const {
    v1::ResourceContent out{.uri = std::move(one.uri),
                            .text = std::move(one.text),
                            .mime_type = std::move(one.mime_type)};
    if (one.file && one.file->bytes) out.bytes = *one.file->bytes;
    return out;
  }
};

v1::ToolOutcome public_kind(ToolOutcome::Kind kind) {
  switch (kind) {
    case ToolOutcome::Kind::ok: return v1::ToolOutcome::ok;
    case ToolOutcome::Kind::failed: return v1::ToolOutcome::failed;
    case ToolOutcome::Kind::fatal: return v1::ToolOutcome::fatal;
  }
  return v1::ToolOutcome::failed;
}

class ContextProgress final : public ProgressSink {
 public:
  explicit ContextProgress(v1::ToolContext& context) : context_(context) {}
  void report(ProgressReport report) override {
    context_.progress(std::move(report.message), report.progress.value_or(0),
                      report.total.value_or(0));
  }

 private:
  v1::ToolContext& context_;
};

Task<void> keep_outcome(ToolPtr tool, ToolCall call, ToolContext context,
                        std::optional<ToolOutcome>* out) {
  *out = co_await tool->invoke(std::move(call), context);
}

using MakeTool = std::function<ToolPtr(const v1::ToolContext&)>;

v1::ToolResult run_here(const MakeTool& make, v1::ToolContext& context, const v1::Json& arguments) {
  json::Value value = v1::detail::to_value(arguments);
  ToolCall call{.run = RunId::parse(context.run_id()).value_or(RunId()),
                .id = ToolUseId::parse(context.call_id()).value_or(ToolUseId()),
                .arguments = value.is_object() ? std::move(value.get_object()) : json::Object()};
  ContextProgress progress(context);
  ToolContext inner;
  if (context.deadline()) inner.deadline = *context.deadline();
  inner.progress = &progress;
  std::optional<ToolOutcome> outcome;
  std::string bug;
  asio::io_context io(1);
  ToolPtr tool = make(context);
  TaskGroup tasks(io.get_executor(), [&bug](const char*, const std::string& what) { bug = what; });
  tasks.spawn("tool", keep_outcome(tool, std::move(call), inner, &outcome));
  while (tasks.size() > 0) {
    io.restart();
    io.run_for(kLookEvery);
    if (context.cancelled() && !tasks.cancelled()) tasks.cancel(CancelReason::user_stop);
  }
  if (outcome) return result_of(std::move(*outcome));
  return v1::ToolResult::failed(bug.empty() ? "The call was cancelled."
                                            : "The tool failed because of an internal error.");
}

class EngineHandler final : public v1::detail::Handler {
 public:
  explicit EngineHandler(std::function<ToolPtr()> make) : make_(std::move(make)) {}

  v1::ToolResult call(v1::ToolContext& context, const v1::Json& arguments) const override {
    return run_here([this](const v1::ToolContext&) { return make_(); }, context, arguments);
  }
  ToolPtr make() const { return make_(); }

 private:
  const std::function<ToolPtr()> make_;
};

}  // namespace

// Gives access to the handler of a public tool.
class ToolAccess final {
 public:
  static const v1::detail::Handler* handler_of(const v1::Tool& tool) {
    return tool.state_->handler.get();
  }
};

v1::ToolResult result_of(ToolOutcome outcome) {
  v1::ToolResult result{.outcome = public_kind(outcome.kind)};
  for (Content& one : outcome.content) result.content.push_back(std::visit(ToPublicContent{}, one));
  if (outcome.structured) result.structured = v1::detail::from_value(*outcome.structured);
  return result;
}

v1::ToolOptions options_of(const ToolDecl& decl) {
  const ToolAnnotations& notes = decl.annotations;
  v1::ToolOptions options{.title = decl.title,
                          .read_only = notes.read_only,
                          .idempotent = notes.idempotent,
                          .destructive = notes.destructive,
                          .long_running = notes.long_running,
                          .parallel_safe = notes.parallel_safe};
  if (notes.timeout) options.timeout = *notes.timeout;
  return options;
}

v1::Tool call_here(const ToolDecl& decl, std::function<ToolPtr()> make) {
  return call_here(decl,
                   MakeTool([make = std::move(make)](const v1::ToolContext&) { return make(); }));
}

v1::Tool call_here(const ToolDecl& decl, MakeTool make) {
  return v1::tool(
      decl.name, decl.description, v1::detail::from_value(json::Value(*decl.input_schema)),
      [make = std::move(make)](v1::ToolContext& context, const v1::Json& arguments) {
        return run_here(make, context, arguments);
      },
      options_of(decl));
}

v1::Tool engine_tool(const ToolDecl& decl, std::function<ToolPtr()> make) {
  return v1::detail::make_tool(
      {decl.name, decl.description, v1::detail::from_value(json::Value(*decl.input_schema)),
       nullptr, nullptr, std::make_shared<const EngineHandler>(std::move(make)), options_of(decl)});
}

ToolPtr engine_tool_of(const v1::Tool& tool) {
  const auto* handler = dynamic_cast<const EngineHandler*>(ToolAccess::handler_of(tool));
  return handler ? handler->make() : nullptr;
}

}  // namespace errand::sdk

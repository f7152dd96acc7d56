#include "sdk/mcp/toolkit_features.hpp"

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <exception>
#include <utility>

#include "base/text.hpp"
#include "crypto/random.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "mcp/client/client_tools.hpp"
#include "mcp/server/served_tool.hpp"
#include "sdk/bridge/public_tool.hpp"
#include "sdk/mcp/public_mcp.hpp"

namespace errand::sdk {
namespace {

constexpr std::size_t kNameCharsShown = 200;

Error no_such(std::string_view what, std::string_view name) {
  return {ErrorCode::not_found, cat("there is no ", what, " ", utf8_prefix(name, kNameCharsShown))};
}

// A client that sends an id for its call sends the same id with every attempt.
ToolUseId id_of(const mcp::ServeToolParams& params) {
  auto given = ToolUseId::parse(json::text_at(&params.meta, mcp::kIdempotencyKey));
  return given ? *given : *ToolUseId::parse(cat("tu_", crypto::random_hex(12)));
}

// The result of the program's function, or why there is none.
template <class T>
Result<T> caught(const std::function<T(v1::ToolContext&)>& function, v1::ToolContext& context) {
  std::string message = "the handler failed";
  try {
    return function(context);
  } catch (const v1::Error& error) {
    return internal_error(error);
  } catch (const std::exception& error) {
    message = utf8_prefix(error.what(), v1::Tool::kMessageBytesMax);
  } catch (...) {
    // Other exceptions have no message. One of them says that the client has to be asked for input.
  }
  return Error(ErrorCode::internal, std::move(message));
}

Handler handler_of(const std::shared_ptr<McpOffer>& offer, McpOffer::ToolkitPtr toolkit,
                   const std::string& name) {
  const bool is_safe = toolkit->get_tool(name).options().parallel_safe;
  return [offer, toolkit = std::move(toolkit), name, is_safe](
             const std::shared_ptr<v1::ToolContext>& context, const v1::Json& arguments,
             const HandlerDone& done) {
    if (is_safe) return toolkit->start(context, name, arguments, done);
    // Other calls, and their threads, wait until this call has its result.
    std::unique_lock lock(offer->one_at_a_time(), std::defer_lock);
    {
      HandlerPool::Waiting waiting;
      lock.lock();
    }
    if (context->cancelled()) return done(v1::ToolResult::failed("The call was cancelled."));
    done(toolkit->execute(*context, name, arguments));
  };
}

// Turns an exception of the task into `thrown`, so that the wait for the task ends normally.
Task<std::optional<ToolOutcome>> kept(Task<ToolOutcome> task, std::exception_ptr* thrown) {
  std::optional<ToolOutcome> outcome;
  try {
    outcome = co_await std::move(task);
  } catch (...) {
    *thrown = std::current_exception();
  }
  co_return outcome;
}

}  // namespace

// ---- Handlers -----------------------------------------------------------------------------------

Task<ToolOutcome> ToolkitFeatures::run(HandlerCall made, CallPtr served, mcp::ServedCall* call) {
  using namespace asio::experimental::awaitable_operators;
  struct Leaving {
    ServedMcpCall& served;
    ~Leaving() { served.leave(); }
  };
  Leaving leaving{*served};
  mcp::ReportedProgress progress(*call);
  made.mcp = served;
  made.services = offer_->services();
  made.progress = &progress;
  made.interrupt = &call->interrupt();
  std::exception_ptr thrown;
  auto first = co_await (kept(handlers_.call(std::move(made)), &thrown) || served->serve());
  if (thrown) std::rethrow_exception(thrown);
  auto* outcome = std::get_if<0>(&first);
  co_return outcome && *outcome ? std::move(**outcome) : failed_outcome("The call was cancelled.");
}

template <class T>
Task<Result<T>> ToolkitFeatures::produce(std::function<T(v1::ToolContext&)> function,
                                         std::string what, CallPtr served, mcp::ServedCall* call) {
  auto made = std::make_shared<std::optional<Result<T>>>();
  HandlerCall handler{
      .handler =
          [function = std::move(function), made](const std::shared_ptr<v1::ToolContext>& context,
                                                 const v1::Json&, const HandlerDone& done) {
            *made = caught(function, *context);
            done(v1::ToolResult());
          },
      .call = {.run = *RunId::parse("run_none"),
               .id = *ToolUseId::parse(cat("tu_", crypto::random_hex(12))),
               .arguments = {}},
      .tool = std::move(what)};
  ToolOutcome outcome = co_await run(std::move(handler), std::move(served), call);
  // An interrupted waiter leaves the handler behind, which may still write its result.
  if (call->interrupt().is_raised()) {
    co_return Error(ErrorCode::cancelled, "the client no longer wants the result");
  }
  if (!outcome.ok() || !*made) co_return Error(ErrorCode::unavailable, text_of(outcome));
  co_return std::move(**made);
}

// ---- Rounds of questions ------------------------------------------------------------------------

Result<ToolkitFeatures::CallPtr> ToolkitFeatures::serve(
    mcp::ServedCall& call, const std::string& request, const json::Object& responses,
    const std::optional<std::string>& state) const {
  json::Object answers;
  if (state) {
    ERRAND_TRY(answers, offer_->states().open(*state, request, SystemClock().now()));
  }
  for (const auto& member : responses) answers[member.key()] = member.value();
  return std::make_shared<ServedMcpCall>(handlers_.home(), call, std::move(answers));
}

mcp::InputRequired ToolkitFeatures::input_wanted(const ServedMcpCall& served,
                                                 const std::string& request) const {
  mcp::InputRequired wanted = *served.wanted();
  wanted.state = offer_->states().seal(served.answers(), request, SystemClock().now());
  return wanted;
}

// ---- Tools --------------------------------------------------------------------------------------

Task<Result<std::vector<mcp::Tool>>> ToolkitFeatures::tools() {
  std::vector<mcp::Tool> out;
  McpOffer::PartsPtr parts = offer_->parts();
  for (const auto& toolkit : parts->toolkits) {
    for (const v1::Tool& tool : toolkit->tools()) out.push_back(mcp::offered_tool(decl_of(tool)));
  }
  co_return out;
}

Task<Result<mcp::CallOutcome>> ToolkitFeatures::call_tool(mcp::ServeToolParams params,
                                                          mcp::ServedCall* call) {
  McpOffer::PartsPtr parts = offer_->parts();
  auto owner = parts->owners.find(params.name);
  if (owner == parts->owners.end()) co_return no_such("tool", params.name);
  const std::string request = cat("tools/call ", params.name, json::write(params.arguments));
  ERRAND_CO_TRY(CallPtr served,
                serve(*call, request, params.input_responses, params.request_state));
  HandlerCall made{.handler = handler_of(offer_, owner->second, params.name),
                   .call = {.run = *RunId::parse("run_none"),
                            .id = id_of(params),
                            .arguments = std::move(params.arguments)},
                   .tool = params.name};
  const milliseconds timeout = owner->second->get_tool(params.name).options().timeout;
  if (timeout.count() > 0) {
    made.timeout = timeout;
    made.deadline = std::chrono::steady_clock::now() + timeout;
  }
  ToolOutcome outcome = co_await run(std::move(made), served, call);
  if (served->wanted()) co_return mcp::CallOutcome(input_wanted(*served, request));
  co_return mcp::CallOutcome(mcp::call_result(std::move(outcome)));
}

// ---- Prompts ------------------------------------------------------------------------------------

Task<Result<std::vector<mcp::Prompt>>> ToolkitFeatures::prompts() {
  std::vector<mcp::Prompt> out;
  McpOffer::PartsPtr parts = offer_->parts();
  for (const v1::mcp::Prompt& one : parts->prompts) out.push_back(offered_prompt(one));
  co_return out;
}

Task<Result<mcp::PromptOutcome>> ToolkitFeatures::get_prompt(mcp::GetPromptParams params,
                                                             mcp::ServedCall* call) {
  McpOffer::PartsPtr parts = offer_->parts();
  auto prompt = std::find_if(parts->prompts.begin(), parts->prompts.end(),
                             [&params](const auto& one) { return one.name == params.name; });
  if (prompt == parts->prompts.end()) co_return no_such("prompt", params.name);
  std::string request = cat("prompts/get ", params.name);
  for (const auto& [name, value] : params.arguments) append(request, "\n", name, "=", value);
  for (const v1::mcp::PromptArgument& one : prompt->arguments) {
    if (!one.required || params.arguments.contains(one.name)) continue;
    co_return Error(ErrorCode::invalid_argument, "this argument is required")
        .pointer(cat("/arguments/", one.name));
  }
  ERRAND_CO_TRY(CallPtr served,
                serve(*call, request, params.input_responses, params.request_state));
  std::function<v1::mcp::PromptResult(v1::ToolContext&)> get =
      [parts, prompt = &*prompt, arguments = params.arguments](v1::ToolContext& context) {
        return prompt->get(context, arguments);
      };
  auto result = co_await produce(std::move(get), params.name, served, call);
  if (served->wanted()) co_return mcp::PromptOutcome(input_wanted(*served, request));
  if (!result) co_return std::move(result).error();
  co_return mcp::PromptOutcome(prompt_result(std::move(*result)));
}

// ---- Resources ----------------------------------------------------------------------------------

Task<Result<std::vector<mcp::Resource>>> ToolkitFeatures::resources() {
  std::vector<mcp::Resource> out;
  McpOffer::PartsPtr parts = offer_->parts();
  for (const v1::mcp::Resource& one : parts->resources) {
    out.push_back({.uri = one.uri,
                   .name = one.name,
                   .title = one.title,
                   .description = one.description,
                   .mime_type = one.mime_type});
  }
  co_return out;
}

Task<Result<std::vector<mcp::ResourceTemplate>>> ToolkitFeatures::resource_templates() {
  std::vector<mcp::ResourceTemplate> out;
  McpOffer::PartsPtr parts = offer_->parts();
  for (const McpOffer::Template& one : parts->templates) {
    out.push_back({.uri_template = one.resource.uri_template,
                   .name = one.resource.name,
                   .title = one.resource.title,
                   .description = one.resource.description,
                   .mime_type = one.resource.mime_type});
  }
  co_return out;
}

Task<Result<std::vector<mcp::EmbeddedResource>>> ToolkitFeatures::read_resource(
    std::string uri, mcp::ServedCall* call) {
  using Contents = v1::mcp::ResourceContents;
  McpOffer::PartsPtr parts = offer_->parts();
  std::function<Contents(v1::ToolContext&)> read;
  std::string mime_type;
  for (const v1::mcp::Resource& one : parts->resources) {
    if (one.uri != uri) continue;
    mime_type = one.mime_type;
    read = [parts, &one](v1::ToolContext& context) { return one.read(context); };
  }
  for (const McpOffer::Template& one : parts->templates) {
    auto variables = read ? std::nullopt : one.uris.match(uri);
    if (!variables) continue;
    mime_type = one.resource.mime_type;
    read = [parts, &one, uri, variables = *variables](v1::ToolContext& context) {
      return one.resource.read(context, uri, variables);
    };
  }
  if (!read) co_return no_such("resource", uri);
  ERRAND_CO_TRY(CallPtr served, serve(*call, {}, {}, {}));
  auto contents = co_await produce(std::move(read), uri, served, call);
  if (served->wanted()) {
    co_return Error(ErrorCode::unsupported, "a resource cannot ask a client of this version");
  }
  if (!contents) co_return std::move(contents).error();
  co_return embedded(std::move(*contents), uri, mime_type);
}

// ---- Completion ---------------------------------------------------------------------------------

Task<Result<mcp::Completion>> ToolkitFeatures::complete(mcp::CompleteParams params,
                                                        mcp::ServedCall* call) {
  McpOffer::PartsPtr parts = offer_->parts();
  const v1::mcp::Complete* complete = nullptr;
  bool is_known = false;
  if (params.kind == mcp::CompleteParams::Kind::prompt) {
    for (const v1::mcp::Prompt& one : parts->prompts) {
      if (one.name != params.name) continue;
      is_known = true;
      complete = &one.complete;
    }
  } else {
    for (const McpOffer::Template& one : parts->templates) {
      if (one.resource.uri_template != params.name) continue;
      is_known = true;
      complete = &one.resource.complete;
    }
  }
  if (!is_known) co_return no_such("prompt or template", params.name);
  if (!*complete) co_return mcp::Completion{};
  ERRAND_CO_TRY(CallPtr served, serve(*call, {}, {}, {}));
  std::function<std::vector<std::string>(v1::ToolContext&)> propose = [parts, complete,
                                                                       params](v1::ToolContext&) {
    return (*complete)(params.argument, params.value);
  };
  auto values = co_await produce(std::move(propose), params.name, served, call);
  if (!values) co_return std::move(values).error();
  co_return mcp::Completion{.values = std::move(*values)};
}

}  // namespace errand::sdk

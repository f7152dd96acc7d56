#include "mcp/client/client.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "mcp/client/client_tools.hpp"
#include "mcp/tool_result.hpp"
#include "net/url.hpp"
#include "tool/tool.hpp"

namespace errand::mcp {
namespace {

constexpr std::string_view kCallMethod = "tools/call";
constexpr std::size_t kNotesMax = 20;
constexpr milliseconds kTtlMax = std::chrono::hours(24);

std::size_t size_of(const Tool& tool) {
  return json::write(to_json(tool)).size();
}

// Collects the pages of a list, within the limits.
class ToolCollector final {
 public:
  explicit ToolCollector(const ClientLimits& limits) : limits_(limits) {}

  // Returns false when no more tools are wanted.
  bool add(ToolPage page) {
    ++pages_;
    for (std::string& note : page.dropped) add_note(std::move(note));
    for (Tool& tool : page.tools) {
      if (!names_.insert(tool.name).second) {
        add_note(cat("tool ", utf8_prefix(tool.name, 128), ": the name is there twice"));
        continue;
      }
      bytes_ += size_of(tool);
      if (list.tools.size() >= limits_.tools_max || bytes_ > limits_.tools_bytes_max) {
        return cut("the server has more tools than are used");
      }
      list.tools.push_back(std::move(tool));
    }
    if (!page.next_cursor) return false;
    if (pages_ >= limits_.pages_max) return cut("the list of tools has too many pages");
    if (!cursors_.insert(*page.next_cursor).second) {
      return cut("the server gives the same page of its tools twice");
    }
    cursor = std::move(page.next_cursor);
    return true;
  }

  ToolList list;
  std::optional<std::string> cursor;

 private:
  bool cut(std::string_view why) {
    list.notes.push_back(cat(why, ": the first ", list.tools.size(), " are used"));
    return false;
  }
  void add_note(std::string note) {
    if (list.notes.size() < kNotesMax) list.notes.push_back(std::move(note));
  }

  const ClientLimits limits_;
  std::set<std::string> names_;
  std::set<std::string> cursors_;
  std::size_t bytes_ = 0;
  std::size_t pages_ = 0;
};

struct CollectedPage {
  milliseconds ttl;
  bool is_more;
};

// A page may have megabytes, so it is parsed on the pool. Nothing else uses the collector
// meanwhile.
Task<Result<CollectedPage>> collect(BlockingPool* pool, std::shared_ptr<ToolCollector> collector,
                                    json::Value answer) {
  auto take = [collector = std::move(collector),
               answer = std::move(answer)]() -> Result<CollectedPage> {
    ERRAND_TRY(ToolPage page, parse_tool_page(answer));
    const milliseconds ttl(page.ttl_millis);
    return CollectedPage{.ttl = ttl, .is_more = collector->add(std::move(page))};
  };
  auto collected = co_await run_aside(pool, std::move(take));
  co_return collected;
}

}  // namespace

const Tool* ToolList::find(std::string_view name) const {
  auto found =
      std::find_if(tools.begin(), tools.end(), [&](const Tool& tool) { return tool.name == name; });
  return found == tools.end() ? nullptr : &*found;
}

Client::Client(ClientDeps deps, ClientOptions options)
    : deps_(std::move(deps)), options_(std::move(options)), tasks_(deps_.home, deps_.on_bug) {}

Task<void> Client::stop() {
  co_await tasks_.stop(CancelReason::shutdown);
  if (opening_) co_await opening_->stop();
  if (session_) co_await session_->stop();
  while (!retired_.empty()) {
    co_await retired_.front()->stop();
    retired_.pop_front();
  }
  opening_.reset();
  session_.reset();
}

Task<Result<ServerInfo>> Client::connect() {
  auto session = co_await connected();
  if (!session) co_return std::move(session).error();
  co_return (*session)->info();
}

Task<Result<ToolListPtr>> Client::tools() {
  auto session = co_await connected();
  if (!session) co_return std::move(session).error();
  bool is_watched = tools_watched_ && (*session)->is_told_of_changes();
  bool is_fresh = is_watched || deps_.timers.now() < tools_expire_;
  if (tools_ && is_fresh) co_return tools_;
  auto listed = co_await list_tools(*session);
  co_return listed;
}

void Client::forget_tools() {
  tools_.reset();
  ++tools_changes_;
}

Task<Result<ToolListPtr>> Client::list_tools(SessionPtr session) {
  const std::uint64_t changes = tools_changes_;
  const bool is_watched = session->is_told_of_changes();
  auto collector = std::make_shared<ToolCollector>(options_.limits);
  milliseconds ttl = milliseconds::max();
  for (bool is_more = session->info().has_tools; is_more;) {
    json::Object params;
    if (collector->cursor) params["cursor"] = *collector->cursor;
    auto answer = co_await ask(session, "tools/list", std::move(params));
    if (!answer) co_return std::move(answer).error();
    if (const auto* error = std::get_if<rpc::RpcError>(&*answer)) co_return to_error(*error);
    ERRAND_CO_TRY(auto page, co_await collect(deps_.schemas.pool, collector,
                                              std::get<json::Value>(std::move(*answer))));
    ttl = std::min(ttl, page.ttl);
    is_more = page.is_more;
  }
  auto tools = std::make_shared<std::vector<Tool>>(std::move(collector->list.tools));
  ERRAND_CO_TRY(collector->list.decls, co_await decls_of(deps_.schemas, tools));
  collector->list.tools = std::move(*tools);
  auto list = std::make_shared<const ToolList>(std::move(collector->list));
  if (changes != tools_changes_)
    co_return ToolListPtr(list);  // the server has changed it meanwhile
  tools_ = list;
  tools_watched_ = is_watched;
  // Only the modern era has a time to live for lists, which a server may set too long.
  milliseconds kept = options_.limits.unwatched_time;
  if (session->info().era == Era::modern) kept = std::min(ttl, kTtlMax);
  tools_expire_ = deps_.timers.now() + kept;
  if (session->http()) {
    std::map<std::string, std::vector<HeaderParameter>> headers;
    for (const Tool& tool : list->tools) {
      if (!tool.header_parameters.empty()) headers[tool.name] = tool.header_parameters;
    }
    session->http()->set_header_parameters(std::move(headers));
  }
  co_return ToolListPtr(list);
}

Task<Result<rpc::Answer>> Client::ask(SessionPtr session, std::string method, json::Object params) {
  auto answer = co_await session->call(std::move(method), std::move(params),
                                       {.silence_max = options_.limits.answer_time});
  if (answer) co_return answer;
  if (answer.error().reason() == "session_ended" && session == session_) drop_session();
  co_return without_effects(answer.error());
}

Task<Result<CallToolResult>> Client::call_tool(CallToolParams params, CallToolOptions options) {
  for (int attempt = 0;; ++attempt) {
    auto session = co_await connected();
    if (!session) co_return std::move(session).error();
    auto result = co_await call_on(*session, params, options);
    // A server that does not know the session, or rejects the headers, has not taken the call.
    bool is_ended = !result && result.error().reason() == "session_ended";
    bool is_mismatch = !result && result.error().reason() == "header_mismatch";
    if (attempt > 0 || (!is_ended && !is_mismatch)) co_return result;
    if (is_ended && *session == session_) drop_session();
    if (is_mismatch) {
      forget_tools();
      auto listed = co_await tools();
      if (!listed) co_return std::move(listed).error();
    }
  }
}

Task<Result<rpc::Answer>> Client::request(std::string method, json::Object params,
                                          CallToolOptions options) {
  for (int attempt = 0;; ++attempt) {
    auto session = co_await connected();
    if (!session) co_return std::move(session).error();
    auto answer = co_await (*session)->call(method, params,
                                            {.silence_max = options.silence_max,
                                             .total_max = options.total_max,
                                             .on_progress = options.on_progress,
                                             .interrupt = options.interrupt});
    bool is_ended = !answer && answer.error().reason() == "session_ended";
    if (attempt > 0 || !is_ended) co_return answer;
    if (*session == session_) drop_session();
  }
}

// The session's id is left out, because anybody who has it can use the session.
void Client::describe_call(const Session& session, SpanNotes& span) const {
  span.note("mcp.method.name", kCallMethod);
  span.note("mcp.protocol.version", session.info().protocol_version);
  if (std::holds_alternative<StdioServer>(options_.server)) span.note("network.transport", "pipe");
  const auto* http = std::get_if<HttpServer>(&options_.server);
  if (!http) return;
  span.note("network.transport", "tcp");
  if (auto url = net::parse_url(http->url)) {
    span.note("server.address", url->host);
    span.note("server.port", std::int64_t{url->port});
  }
}

Task<Result<CallToolResult>> Client::call_on(SessionPtr session, CallToolParams params,
                                             CallToolOptions options) {
  if (options.span) describe_call(*session, *options.span);
  json::Object extra;
  ClientFeatures* features = options.features ? options.features : options_.features;
  Session::Asked asked(*session, options.features, options.caller);
  for (std::size_t round = 0; round <= options_.limits.input_rounds_max; ++round) {
    json::Object message{{"name", params.name}, {"arguments", params.arguments}};
    if (!params.meta.empty()) message["_meta"] = params.meta;
    for (const auto& [key, value] : extra) message[key] = value;
    auto answer = co_await session->call(std::string(kCallMethod), std::move(message),
                                         {.silence_max = options.silence_max,
                                          .total_max = options.total_max,
                                          .on_progress = options.on_progress,
                                          .interrupt = options.interrupt,
                                          .owner = options.features});
    if (!answer) co_return std::move(answer).error();
    if (const auto* error = std::get_if<rpc::RpcError>(&*answer)) {
      const bool may_repeat = co_await open_pages(pages_to_open(*error), features);
      if (may_repeat) continue;
      if (error->code != code::kHeaderMismatch) co_return to_error(*error);
      co_return Error(ErrorCode::conflict, to_error(*error).message()).reason("header_mismatch");
    }
    ERRAND_CO_TRY(auto outcome, parse_call_outcome(std::get<json::Value>(*answer)));
    if (auto* result = std::get_if<CallToolResult>(&outcome)) {
      CallToolResult checked = std::move(*result);
      if (options.output_schema) {
        checked = co_await check_output(options.output_schema, std::move(checked));
      }
      cut_result(checked, options_.limits.result_bytes_max);
      co_return checked;
    }
    extra = co_await answer_inputs(std::move(std::get<InputRequired>(outcome)), features);
  }
  co_return Error(ErrorCode::unsupported, "the MCP server asks for input again and again")
      .reason("too_many_inputs");
}

Task<json::Object> Client::answer_inputs(InputRequired wanted, ClientFeatures* features) {
  json::Object responses;
  for (auto& [key, request] : wanted.requests) {
    rpc::Answer answer =
        co_await answer_request(features, std::move(request.method), std::move(request.params));
    // The protocol has no error for an input. The server asks again or gives up.
    if (auto* value = std::get_if<json::Value>(&answer)) responses[key] = std::move(*value);
  }
  json::Object out{{"inputResponses", std::move(responses)}};
  if (wanted.state) out["requestState"] = *wanted.state;
  co_return out;
}

// Whether there is a page, and the user has agreed to open all of them.
Task<bool> Client::open_pages(std::vector<json::Object> pages, ClientFeatures* features) {
  for (json::Object& page : pages) {
    page["mode"] = "url";
    rpc::Answer answer = co_await answer_request(features, "elicitation/create", std::move(page));
    const auto* value = std::get_if<json::Value>(&answer);
    const json::Object* said = value ? value->if_object() : nullptr;
    if (json::text_at(said, "action") != "accept") co_return false;
  }
  co_return !pages.empty();
}

Task<CallToolResult> Client::check_output(SchemaPtr schema, CallToolResult result) {
  if (result.is_error) co_return result;
  std::string wrong =
      "The result has no structured content, although the tool has an output schema.";
  if (result.structured_content) {
    // The pool may use the value for longer than the caller waits.
    auto value = std::make_shared<json::Value>(std::move(*result.structured_content));
    auto errors = co_await check_aside(deps_.schemas, std::move(schema), value);
    if (errors && errors->empty()) {
      result.structured_content = std::move(*value);
      co_return result;
    }
    wrong =
        errors ? cat("The result does not fit the tool's output schema:\n", json::describe(*errors))
               : cat("The result could not be checked: ", errors.error().message());
  }
  result.is_error = true;
  result.structured_content.reset();
  result.content.emplace_back(TextContent{std::move(wrong)});
  co_return result;
}

}  // namespace errand::mcp

// Sessions: create, list, read, send a message, end.
#include <algorithm>
#include <array>
#include <utility>

#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "engine/records/agents.hpp"
#include "engine/session_spec.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/fork.hpp"
#include "run/log/session_message.hpp"
#include "server/api.hpp"
#include "server/openapi/query.hpp"
#include "server/request_body.hpp"
#include "server/routes/run_json.hpp"

namespace errand::server {
namespace {

// At most this much of a history is shown, the newest messages first.
constexpr std::size_t kHistoryBytesMax = 8U * 1024 * 1024;
constexpr std::size_t kEventsBytesMax = 4U * 1024 * 1024;
constexpr std::size_t kSessionBytes = 4096;  // about, without the messages
constexpr std::string_view kDefaultName = "ephemeral";

Result<SessionId> session_of_path(const net::Request& request) {
  const std::string& text = request.params.at(1);
  auto id = SessionId::parse(text);
  if (id) return *id;
  return Error(ErrorCode::not_found, cat("there is no session \"", utf8_prefix(text, 80), "\""));
}

std::optional<WhenBusy> read_when_busy(json::Fields& in) {
  constexpr std::array kAll = {WhenBusy::queue, WhenBusy::reject, WhenBusy::interrupt};
  auto word = in.optional_choice(
      "whenBusy",
      {engine::to_string(kAll[0]), engine::to_string(kAll[1]), engine::to_string(kAll[2])});
  if (!word) return {};
  return kAll.at(*word);
}

// Parses a body with the members of a run.
Result<Spec> parse_as_run(const json::Value& body) {
  const json::Object& members = body.get_object();
  const bool has_prompt = members.contains("prompt") || members.contains("messages");
  if (has_prompt && !members.contains("whenBusy")) return parse_spec(body);
  json::Object as_run = members;
  as_run.erase("whenBusy");
  if (!has_prompt) as_run["prompt"] = "";
  return parse_spec(json::Value(std::move(as_run)));
}

Result<engine::SessionParams> parse_session(const json::Value& body) {
  json::Fields in(body, "");
  engine::SessionParams params{.spec = {},
                               .when_busy = read_when_busy(in).value_or(WhenBusy::queue)};
  for (std::string_view key : {"prompt", "messages"}) {
    if (in.optional_any(key)) in.fail(key, "a session begins without it: send it as a message");
  }
  ERRAND_CHECK(in.finish());
  ERRAND_TRY(params.spec, parse_as_run(body));
  if (params.spec.name.empty()) params.spec.name = kDefaultName;
  return params;
}

Result<engine::SessionMessage> parse_message(const json::Value& body) {
  json::Fields in(body, "");
  engine::SessionMessage message;
  message.when_busy = read_when_busy(in);
  if (!in.optional_any("prompt") && !in.optional_any("messages")) {
    in.fail("prompt", "give a \"prompt\" or \"messages\"");
  }
  if (in.optional_any("agentId")) {
    in.fail("agentId", "this is the session's, and no message changes it");
  }
  ERRAND_CHECK(in.finish());
  ERRAND_TRY(message.said, parse_as_run(body));
  for (std::string_view key : {"name", "retainTools", "room", "requiredToolkits"}) {
    if (!in.optional_any(key)) continue;
    message.said.warnings.push_back(cat("/", key, ": no message of a session changes this"));
  }
  message.overrides = take_overrides(body.get_object(), message.said);
  message.overrides.prompt.reset();
  message.overrides.name.reset();
  return message;
}

json::Array shown_attachments(const Message& message) {
  json::Array out;
  for (json::Value& file : to_json(message.files)) {
    file.as_object().erase("sha256");
    out.push_back(std::move(file));
  }
  return out;
}

using History = std::vector<SessionEntry>;

std::size_t bytes_of(const History& history) {
  std::size_t bytes = 0;
  for (const SessionEntry& entry : history) bytes += entry.body.size();
  return bytes;
}

// Where an answer with this history is written: a long one on the pool.
BlockingPool* place_for(const History& history, BlockingPool* pool) {
  return bytes_of(history) > kBytesInABreath ? pool : nullptr;
}

// Appends the messages as a JSON array. Each entry is let go of as soon as it is written.
Result<void> write_messages(std::string& out, History& history) {
  out += '[';
  for (SessionEntry& entry : history) {
    ERRAND_TRY(auto kept, parse_history_entry(std::exchange(entry.body, {})));
    const Message& message = kept.message;
    if (out.back() != '[') out += ',';
    json::ObjectWriter one(out);
    one.field("role", to_string(message.role)).field("content", message.text);
    if (!message.files.empty()) one.field("attachments", json::Value(shown_attachments(message)));
    one.end();
  }
  out += ']';
  return {};
}

// A session as its row and spec describe it, with the messages of its history.
Result<net::Response> session_response(const json::Object& session, History& history) {
  std::string out;
  out.reserve(bytes_of(history) + kSessionBytes);
  json::ObjectWriter writer(out);
  for (const auto& member : session) {
    if (member.key() != "messages") {
      writer.field(member.key(), member.value());
      continue;
    }
    writer.raw("messages", {});
    ERRAND_CHECK(write_messages(out, history));
  }
  writer.end();
  return json_response(200, std::move(out));
}

json::Array shown_calls(const HistoryEntry& entry) {
  json::Array out;
  for (const RetainedCall& call : retained_calls(entry)) {
    json::Object one{{"toolUseId", call.id.view()},
                     {"name", call.name},
                     {"arguments", call.arguments},
                     {"ok", call.ok},
                     {"result", call.result}};
    if (!call.text.empty()) one["text"] = call.text;
    out.push_back(std::move(one));
  }
  return out;
}

// A message of the history as an event.
Result<json::Object> event_json(const SessionEntry& entry) {
  ERRAND_TRY(auto kept, parse_history_entry(entry.body));
  const Message& message = kept.message;
  bool is_user = message.role == Role::user;
  json::Object out{{"seq", entry.n},
                   {"type", is_user ? "user_message" : "assistant_message"},
                   {"text", message.text},
                   {"runId", entry.run.view()}};
  if (!message.files.empty()) out["attachments"] = shown_attachments(message);
  if (!kept.steps.empty()) out["retained"] = shown_calls(kept);
  return out;
}

json::Object metadata_of(const SessionRow& row) {
  auto labels = json::parse(row.metadata);
  return metadata_json(parse_metadata(labels ? labels->if_object() : nullptr));
}

std::string_view to_string(SessionStatus status) {
  return status == SessionStatus::active ? "active" : "ended";
}

Result<SessionFilter> parse_session_filter(const Principal& who, const net::Request& request) {
  SessionFilter filter{.workspace = who.workspace};
  ERRAND_TRY(auto status, choice_param(request, query::kSessionStatus));
  if (status) filter.status = *status == 0 ? SessionStatus::active : SessionStatus::ended;
  ERRAND_TRY(filter.metadata, metadata_params(request));
  ERRAND_TRY(filter.created, created_params(request));
  if (auto cursor = text_param(request, query::kCursor)) {
    filter.before = engine::parse_cursor(*cursor);
    if (!filter.before) {
      return Error(ErrorCode::invalid_argument, "\"cursor\" is not one this server gave out");
    }
  }
  ERRAND_TRY(auto limit, integer_param(request, query::kLimit));
  ERRAND_TRY(auto offset, integer_param(request, query::kOffset));
  filter.limit = static_cast<std::size_t>(limit);
  filter.offset = static_cast<std::size_t>(offset);
  return filter;
}

// Which entries of a history a request wants: those in (after, until].
struct EventRange {
  std::int64_t after = 0;
  std::int64_t until = 0;
};

Result<EventRange> parse_range(const net::Request& request, std::int64_t entries) {
  EventRange range{.after = 0, .until = entries};
  if (text_param(request, query::kBeforeSeq)) {
    ERRAND_TRY(auto before, integer_param(request, query::kBeforeSeq));
    range.until = std::min(entries, before - 1);
  }
  ERRAND_TRY(auto full, choice_param(request, query::kFull));
  const bool is_full = full && query::kFull.choices[*full] != "0";
  if (is_full || !text_param(request, query::kLastMessages)) return range;
  ERRAND_TRY(auto last, integer_param(request, query::kLastMessages));
  range.after = std::max<std::int64_t>(0, range.until - last);
  return range;
}

}  // namespace

Api::Answer Api::create_session(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto params, co_await read_json(&request, engine_.pool(), parse_session));
  ERRAND_CO_TRY(auto idempotency, co_await idempotency_of(&request, engine_.pool()));
  json::Array warnings = warnings_json(params.spec);
  ERRAND_CO_TRY(auto id,
                co_await engine_.create_session(who, std::move(params), std::move(idempotency)));
  ERRAND_CO_TRY(auto session, co_await engine_.get_session(who, id));
  json::Object out{{"sessionId", id.view()},
                   {"id", id.view()},
                   {"name", session.row.name},
                   {"createdAt", to_iso8601(session.row.created_at)}};
  if (!warnings.empty()) out["warnings"] = std::move(warnings);
  co_return json_response(201, json::write(out));
}

Api::Answer Api::list_sessions(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto filter, parse_session_filter(who, request));
  if (auto agent = text_param(request, query::kSessionAgent)) {
    ERRAND_CO_TRY(auto label, co_await engine::label_of_agent(&engine_.records().agents,
                                                              who.workspace, *agent));
    filter.metadata.emplace_back(kAgentLabel, std::move(label));
  }
  ERRAND_CO_TRY(auto total, co_await engine_.count_sessions(filter));
  const std::size_t limit =
      filter.limit++;  // one more than asked for shows whether there is another page
  const std::size_t offset = filter.offset;
  ERRAND_CO_TRY(auto rows, co_await engine_.list_sessions(std::move(filter)));
  bool has_more = rows.size() > limit;
  if (has_more) rows.resize(limit);
  json::Array sessions;
  for (const SessionRow& row : rows) {
    ERRAND_CO_TRY(auto summary, co_await engine_.summary_of(who, row));
    sessions.push_back(json::Object{{"id", row.id.view()},
                                    {"sessionId", row.id.view()},
                                    {"name", row.name},
                                    {"status", to_string(row.status)},
                                    {"creationDate", to_iso8601(row.created_at)},
                                    {"lastInteractionDate", to_iso8601(row.last_used_at)},
                                    {"summary", summary},
                                    {"metadata", metadata_of(row)}});
  }
  json::Object out{
      {"total", total}, {"limit", limit}, {"offset", offset}, {"sessions", std::move(sessions)}};
  out["nextCursor"] = json::Value();
  if (has_more) out["nextCursor"] = engine::to_cursor(rows.back().place());
  co_return json_response(200, json::write(out));
}

Api::Answer Api::get_session(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, session_of_path(request));
  ERRAND_CO_TRY(auto session, co_await engine_.get_session(who, id));
  const SessionRow& row = session.row;
  json::Object spec = shown_spec(session.params.spec);
  spec.erase("prompt");
  // The model that answered last, which may be the fallback model.
  auto active = co_await engine_.model_in_use(row);
  const bool is_known = active || active.error().code() == ErrorCode::not_found;
  if (!is_known) co_return std::move(active).error();
  if (active) {
    spec["activeModelId"] = *active;
  } else if (auto model = engine_.catalog().resolve(session.params.spec.model_id)) {
    spec["activeModelId"] = (*model)->info.id;
  }
  json::Object out{{"id", row.id.view()},
                   {"sessionId", row.id.view()},
                   {"name", row.name},
                   {"status", to_string(row.status)},
                   {"createdAt", to_iso8601(row.created_at)},
                   {"lastUsedAt", to_iso8601(row.last_used_at)}};
  out["endedAt"] = row.ended_at ? json::Value(to_iso8601(*row.ended_at)) : json::Value();
  out["agentSpec"] = std::move(spec);
  out["whenBusy"] = engine::to_string(session.params.when_busy);
  out["messages"] = json::Array();  // created here to keep the order of the members
  out["metadata"] = metadata_of(row);
  out["currentRunId"] = row.current ? json::Value(row.current->view()) : json::Value();
  out["queuedRuns"] = row.queued;
  ERRAND_CO_TRY(auto page,
                co_await engine_.newest_history(who, id, 0, row.entries, kHistoryBytesMax));
  out["truncated"] = !page.entries.empty() && page.entries.front().n > 1;
  BlockingPool* pool = place_for(page.entries, engine_.pool());
  auto make = [out = std::move(out), history = std::move(page.entries)]() mutable {
    return session_response(out, history);
  };
  auto made = co_await run_aside(pool, std::move(make));
  co_return made;
}

Api::Answer Api::end_session(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, session_of_path(request));
  // The protocol's DELETE ends a session and may be repeated. Only `purge` removes the session.
  ERRAND_CO_TRY(auto purge, choice_param(request, query::kPurge));
  if (purge == 0U) {
    ERRAND_CO_CHECK(co_await engine_.remove_session(who, id));
    co_return json_response(204, {});
  }
  ERRAND_CO_CHECK(co_await engine_.end_session(who, id));
  co_return json_response(200, R"({"ok":true})");
}

Api::Answer Api::send_message(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, session_of_path(request));
  ERRAND_CO_TRY(auto message, co_await read_json(&request, engine_.pool(), parse_message));
  ERRAND_CO_TRY(auto idempotency, co_await idempotency_of(&request, engine_.pool()));
  const json::Array warnings = warnings_json(message.said);
  ERRAND_CO_TRY(auto run,
                co_await engine_.send(who, id, std::move(message), std::move(idempotency)));
  std::string out;
  json::ObjectWriter writer(out);
  writer.field("runId", run.view())
      .field("sessionId", id.view())
      .field("streamUrl", stream_url(request, who, run));
  if (!warnings.empty()) writer.field("warnings", json::Value(warnings));
  writer.end();
  co_return json_response(201, std::move(out));
}

Api::Answer Api::list_session_events(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, session_of_path(request));
  ERRAND_CO_TRY(auto session, co_await engine_.get_session(who, id));
  ERRAND_CO_TRY(auto range, parse_range(request, session.row.entries));
  // If not all of them fit, the newest are shown.
  ERRAND_CO_TRY(auto page, co_await engine_.newest_history(who, id, range.after, range.until,
                                                           kEventsBytesMax));
  json::Object out{{"sessionId", id.view()}, {"total", session.row.entries}};
  BlockingPool* pool = place_for(page.entries, engine_.pool());
  auto make = [out = std::move(out), history = std::move(page.entries),
               after = range.after]() mutable -> Result<net::Response> {
    json::Array events;
    for (const SessionEntry& entry : history) {
      ERRAND_TRY(auto event, event_json(entry));
      events.push_back(std::move(event));
    }
    const std::int64_t oldest = history.empty() ? 1 : history.front().n;
    out["events"] = std::move(events);
    out["truncated"] = oldest > after + 1;
    out["nextBeforeSeq"] = oldest > 1 ? json::Value(oldest) : json::Value();
    return json_response(200, json::write(out));
  };
  auto made = co_await run_aside(pool, std::move(make));
  co_return made;
}

}  // namespace errand::server

// Runs: create, list, read, stream, answer, cancel.
#include <algorithm>
#include <utility>

#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "engine/records/agents.hpp"
#include "json/fields.hpp"
#include "json/write.hpp"
#include "run/spec.hpp"
#include "server/api.hpp"
#include "server/openapi/query.hpp"
#include "server/request_body.hpp"
#include "server/routes/run_json.hpp"
#include "server/stream/run_event_feed.hpp"
#include "store/segment_events.hpp"

namespace errand::server {
namespace {

constexpr std::size_t kEventsPageBytesMax = 4U * 1024 * 1024;
constexpr std::size_t kEventsFrameBytes = 64;  // around the events of a page

// A client's answer to a call.
struct PostedAnswer {
  engine::CallAnswer answer;
  // The size of a result that is too large: the call then counts as failed. Clients do not send
  // another answer after a refusal, and the run would wait for nothing.
  std::optional<std::size_t> refused_bytes = {};
};

Error too_large(std::size_t bytes) {
  return Error(ErrorCode::too_large,
               cat("\"result\" has ", bytes, " bytes; at most ", kResultBytesMax,
                   " are allowed. The call counts as failed."))
      .pointer("/result")
      .limit("resultBytes", static_cast<std::int64_t>(kResultBytesMax));
}

void parse_files(json::Fields& in, ToolAnswer& answer) {
  const json::Array* items = in.optional_array("files");
  if (!items || items->empty()) return;
  if (!answer.ok) in.fail("files", "files go along with a \"result\" only");
  if (!in.ok()) return;
  auto files = parse_result_files(*items, in.pointer_to("files"));
  if (!files) return in.fail(std::move(files).error());
  answer.files = std::move(*files);
}

Result<PostedAnswer> parse_tool_result(const json::Value& body, MissingResult missing) {
  json::Fields in(body, "");
  PostedAnswer posted;
  engine::CallAnswer& params = posted.answer;
  params.tool_use_id = in.text("toolUseId");
  params.claim_id = in.optional_text("claimId").value_or("");
  auto result = in.optional_text("result");
  auto error = in.optional_text("error");
  if (!result && !error && missing == MissingResult::empty) result.emplace();
  if (in.ok() && result.has_value() == error.has_value()) {
    in.fail("result", "give either \"result\" or \"error\", as a string");
  }
  // The text of an error may have any length. It is cut, because no client would send a shorter
  // one.
  params.answer = {
      .ok = result.has_value(),
      .text = result ? std::move(*result) : without_middle(error.value_or(""), kErrorBytesMax)};
  parse_files(in, params.answer);
  if (result && params.answer.text.size() > kResultBytesMax) {
    posted.refused_bytes = params.answer.text.size();
    params.answer = {.ok = false,
                     .text = cat("The tool's result has ", *posted.refused_bytes,
                                 " bytes, and at most ", kResultBytesMax, " are allowed.")};
  }
  params.answer.is_fatal = in.optional_flag("fatal").value_or(false);
  if (in.ok() && params.answer.is_fatal && params.answer.ok) {
    in.fail("fatal", "\"fatal\" goes along with an \"error\" only");
  }
  return in.finish(std::move(posted));
}

Task<Result<Spec>> spec_of(net::Request* request, engine::Engine* engine) {
  ERRAND_CO_TRY(auto text, json_text(*request));
  if (text.size() <= kBytesInABreath) co_return parse_spec(text, engine->tool_sets());
  // The cache of tool sets belongs to the home, so the pool parses without it.
  auto read = [](std::string_view long_text) {
    ToolSetCache none;
    return parse_spec(long_text, none);
  };
  co_return co_await read_aside(&request->body, engine->pool(), read);
}

// Roughly the size of the answer.
std::size_t bytes_of(const engine::RunView& run) {
  std::size_t bytes =
      run.state->conversation_bytes() + run.state->created().spec.tools->text.size();
  for (const engine::PendingCall& call : run.pending) bytes += call.box.request.size();
  return bytes;
}

// The larger one of header and query. Anything but a number is ignored, as clients expect.
EventSeq resume_point(const net::Request& request) {
  auto header = parse_integer<EventSeq>(trim(request.header("last-event-id")));
  auto query = parse_integer<EventSeq>(text_param(request, query::kLastSeq).value_or(""));
  return std::max({EventSeq{0}, header.value_or(0), query.value_or(0)});
}

Result<RunFilter> parse_run_filter(const Principal& who, const net::Request& request) {
  RunFilter filter{.workspace = who.workspace};
  ERRAND_TRY(auto status, choice_param(request, query::kRunStatus));
  if (status) {
    std::string_view word = query::kRunStatus.words()[*status];
    filter.status = word == "waiting" ? RunStatus::waiting : parse_run_status(word);
  }
  ERRAND_TRY(filter.metadata, metadata_params(request));
  ERRAND_TRY(filter.created, created_params(request));
  if (auto session = text_param(request, query::kSession)) {
    filter.session = SessionId::parse(*session);
    if (!filter.session) {
      return Error(ErrorCode::invalid_argument, "\"sessionId\" is not the id of a session");
    }
  }
  if (auto parent = text_param(request, query::kParentRun)) {
    if (!RunId::parse(*parent)) {
      return Error(ErrorCode::invalid_argument, "\"parentRunId\" is not the id of a run");
    }
    filter.metadata.emplace_back(kParentRunKey, *parent);
  }
  if (auto cursor = text_param(request, query::kCursor)) {
    filter.before = RunId::parse(*cursor);
    if (!filter.before) {
      return Error(ErrorCode::invalid_argument, "\"cursor\" is not one this server gave out");
    }
  }
  ERRAND_TRY(auto limit, integer_param(request, query::kLimit));
  filter.limit = static_cast<std::size_t>(limit);
  return filter;
}

std::size_t bytes_of(const std::vector<SegmentPtr>& segments) {
  std::size_t bytes = 0;
  for (const SegmentPtr& segment : segments) bytes += segment->events.size();
  return bytes;
}

// The `limit` events behind `after`, of a log that ends with `end`.
Result<net::Response> events_response(const std::vector<SegmentPtr>& segments, EventSeq after,
                                      std::int64_t limit, EventSeq end) {
  std::string out;
  out.reserve(kEventsFrameBytes + bytes_of(segments));
  out += "{\"events\":[";
  EventSeq last = after;
  for (const SegmentPtr& segment : segments) {
    for_each_event(*segment, after, [&](std::string_view line) {
      if (last - after >= limit) return;
      append(out, last == after ? "" : ",", line);
      ++last;
    });
  }
  append(out, "],\"nextCursor\":");
  if (last < end) {
    append(out, '"', last, '"');
  } else {
    out += "null";
  }
  out += '}';
  return json_response(200, std::move(out));
}

}  // namespace

Api::Answer Api::create_run(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto spec, co_await spec_of(&request, &engine_));
  ERRAND_CO_TRY(auto idempotency, co_await idempotency_of(&request, engine_.pool()));
  const json::Array warnings = warnings_json(spec);
  ERRAND_CO_TRY(auto run, co_await engine_.create(who, std::move(spec), std::move(idempotency)));
  std::string out;
  json::ObjectWriter writer(out);
  writer.field("runId", run.view()).field("streamUrl", stream_url(request, who, run));
  if (!warnings.empty()) writer.field("warnings", json::Value(warnings));
  writer.end();
  co_return json_response(201, std::move(out));
}

Api::Answer Api::list_runs(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto filter, parse_run_filter(who, request));
  if (auto agent = text_param(request, query::kAgent)) {
    ERRAND_CO_TRY(auto label, co_await engine::label_of_agent(&engine_.records().agents,
                                                              who.workspace, *agent));
    filter.metadata.emplace_back(kAgentLabel, std::move(label));
  }
  std::size_t limit =
      filter.limit++;  // one more than asked for shows whether there is another page
  ERRAND_CO_TRY(auto rows, co_await engine_.list(std::move(filter)));
  bool has_more = rows.size() > limit;
  if (has_more) rows.resize(limit);
  ERRAND_CO_TRY(auto about, choice_param(request, query::kAbout));
  json::Array runs;
  for (const RunRow& row : rows) {
    json::Object run = row_json(row);
    if (about == 0) {
      auto view = co_await engine_.get(who, row.id);
      if (view) add_about(run, *view);  // a run that was removed by now is shown as it was listed
    }
    runs.push_back(std::move(run));
  }
  json::Object out{{"runs", std::move(runs)}};
  out["nextCursor"] = has_more ? json::Value(rows.back().id.view()) : json::Value();
  co_return json_response(200, json::write(out));
}

Api::Answer Api::get_run(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, run_of_path(request));
  ERRAND_CO_TRY(auto run, co_await engine_.get(who, id));
  BlockingPool* pool = bytes_of(run) > kBytesInABreath ? engine_.pool() : nullptr;
  auto make = [run = std::move(run)]() -> Result<net::Response> {
    return json_response(200, json::write(snapshot_json(run)));
  };
  auto made = co_await run_aside(pool, std::move(make));
  co_return made;
}

Api::Answer Api::remove_run(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, run_of_path(request));
  ERRAND_CO_CHECK(co_await engine_.remove_run(who, id));
  co_return json_response(204, {});
}

Api::Answer Api::stream_run(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, run_of_path(request));
  ERRAND_CO_TRY(auto reader, co_await engine_.subscribe(who, id, resume_point(request)));
  // Browsers reconnect after every end of a stream; the standard's answer to that is 204.
  if (reader->is_over()) co_return json_response(204, {});
  ERRAND_CO_TRY(auto notices, choice_param(request, query::kNotices));
  if (notices == 0) reader->hear_retries();
  net::Response response;
  response.events = std::make_unique<RunEventFeed>(std::move(reader), engine_.timers());
  co_return response;
}

Api::Answer Api::list_events(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, run_of_path(request));
  ERRAND_CO_TRY(auto after, integer_param(request, query::kEventsAfter));
  ERRAND_CO_TRY(auto limit, integer_param(request, query::kEventsLimit));
  ERRAND_CO_TRY(auto page, co_await engine_.events(who, id, after, kEventsPageBytesMax));
  BlockingPool* pool = bytes_of(page.segments) > kBytesInABreath ? engine_.pool() : nullptr;
  auto make = [segments = std::move(page.segments), after, limit, end = page.last_seq] {
    return events_response(segments, after, limit, end);
  };
  auto made = co_await run_aside(pool, std::move(make));
  co_return made;
}

Api::Answer Api::post_tool_result(Principal who, net::Request request) {
  auto read = [missing = options_.missing_result](const json::Value& body) {
    return parse_tool_result(body, missing);
  };
  ERRAND_CO_TRY(auto posted, co_await read_json(&request, engine_.pool(), read));
  ERRAND_CO_TRY(auto id, run_of_path(request));
  ERRAND_CO_CHECK(co_await engine_.answer(who, id, std::move(posted.answer)));
  if (posted.refused_bytes) co_return too_large(*posted.refused_bytes);
  co_return json_response(204, {});
}

Api::Answer Api::cancel_run(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, run_of_path(request));
  ERRAND_CO_TRY(auto status, co_await engine_.cancel(who, id));
  std::string out;
  json::ObjectWriter(out).field("ok", true).field("status", to_string(status)).end();
  co_return json_response(200, std::move(out));
}

}  // namespace errand::server

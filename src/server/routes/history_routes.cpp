// A run's past: forks, its journal for export, and feedback on it.
#include <cstddef>
#include <cstdint>
#include <utility>

#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/write.hpp"
#include "run/fork.hpp"
#include "server/api.hpp"
#include "server/openapi/query.hpp"
#include "server/openapi/request_limits.hpp"
#include "server/openapi/request_words.hpp"
#include "server/request_body.hpp"
#include "server/routes/run_json.hpp"

namespace errand::server {
namespace {

constexpr std::size_t kJournalPageBytesMax = 4U * 1024 * 1024;

void check_length(json::Fields& in, std::string_view key, std::string_view text,
                  std::size_t chars_max) {
  if (utf8_length(text) <= chars_max) return;
  in.fail(Error(ErrorCode::invalid_argument,
                cat("\"", key, "\" is longer than ", chars_max, " characters"))
              .pointer(in.pointer_to(key))
              .limit(cat(key, "Chars"), static_cast<std::int64_t>(chars_max)));
}

Result<engine::Feedback> parse_feedback(const json::Value& body) {
  json::Fields in(body, "");
  auto verdict = in.optional_choice("verdict", {kVerdicts[0], kVerdicts[1]});
  if (in.ok() && !verdict) in.fail("verdict", "expected \"UP\" or \"DOWN\"");
  using Verdict = engine::Feedback::Verdict;
  engine::Feedback feedback{.verdict = verdict == 1 ? Verdict::down : Verdict::up,
                            .explanation = in.optional_text("explanation").value_or(""),
                            .content = in.optional_text("contentSnapshot")};
  check_length(in, "explanation", feedback.explanation, kFeedbackExplanationCharsMax);
  check_length(in, "contentSnapshot", feedback.content.value_or(""), kFeedbackContentCharsMax);
  return in.finish(std::move(feedback));
}

json::Object feedback_json(const RunId& run, const engine::Feedback& feedback) {
  return {{"id", cat("feedback-", run.view())},
          {"verdict", kVerdicts.at(static_cast<std::size_t>(feedback.verdict))},
          {"targetKind", "agent_run"},
          {"agentRunId", run.view()}};
}

std::size_t bytes_of(const std::vector<std::string>& entries) {
  std::size_t bytes = 0;
  for (const std::string& entry : entries) bytes += entry.size() + 1;
  return bytes;
}

// `next` is where the next page begins; 0: there is none.
Result<net::Response> journal_response(const std::vector<std::string>& entries, std::size_t next) {
  constexpr std::size_t kFrameBytes = 64;
  std::string out;
  out.reserve(bytes_of(entries) + kFrameBytes);
  out += "{\"entries\":[";
  for (const std::string& entry : entries)
    append(out, &entry == &entries.front() ? "" : ",", entry);
  append(out, "],\"nextCursor\":");
  if (next > 0) {
    append(out, '"', next, '"');
  } else {
    out += "null";
  }
  out += '}';
  return json_response(200, std::move(out));
}

}  // namespace

Api::Answer Api::fork_run(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, run_of_path(request));
  ForkParams params;
  if (!request.body.empty()) {
    ERRAND_CO_TRY(params, co_await read_json(&request, engine_.pool(), parse_fork));
  }
  ERRAND_CO_TRY(auto idempotency, co_await idempotency_of(&request, engine_.pool()));
  ERRAND_CO_TRY(auto fork,
                co_await engine_.fork(who, id, std::move(params), std::move(idempotency)));
  std::string out;
  json::ObjectWriter(out)
      .field("runId", fork.run.view())
      .field("streamUrl", stream_url(request, who, fork.run))
      .field("forkedFrom", fork_json(fork.from))
      .end();
  co_return json_response(201, std::move(out));
}

Api::Answer Api::list_journal(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, run_of_path(request));
  ERRAND_CO_TRY(auto after, integer_param(request, query::kEntriesAfter));
  ERRAND_CO_TRY(auto limit, integer_param(request, query::kEntriesLimit));
  ERRAND_CO_TRY(auto page,
                co_await engine_.journal(who, id, static_cast<std::size_t>(after),
                                         static_cast<std::size_t>(limit), kJournalPageBytesMax));
  const std::size_t end = static_cast<std::size_t>(after) + page.entries.size();
  BlockingPool* pool = bytes_of(page.entries) > kBytesInABreath ? engine_.pool() : nullptr;
  auto make = [entries = std::move(page.entries), next = page.has_more ? end : 0] {
    return journal_response(entries, next);
  };
  auto made = co_await run_aside(pool, std::move(make));
  co_return made;
}

Api::Answer Api::give_feedback(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, run_of_path(request));
  ERRAND_CO_TRY(auto feedback, co_await read_json(&request, engine_.pool(), parse_feedback));
  const json::Object out = feedback_json(id, feedback);
  ERRAND_CO_TRY(bool is_first, co_await engine_.give_feedback(who, id, std::move(feedback)));
  co_return json_response(is_first ? 201 : 200, json::write(out));
}

Api::Answer Api::get_feedback(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, run_of_path(request));
  ERRAND_CO_TRY(auto kept, co_await engine_.feedback(who, id));
  json::Object out = feedback_json(id, kept.feedback);
  out["explanation"] = kept.feedback.explanation;
  out["contentSnapshot"] = kept.feedback.content.value_or("");
  out["createdAt"] = to_iso8601(kept.created_at);
  out["updatedAt"] = to_iso8601(kept.updated_at);
  co_return json_response(200, json::write(out));
}

}  // namespace errand::server

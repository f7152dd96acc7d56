// Going back in a run: forks, and its journal for export.
#include <cstdint>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "run/fork.hpp"
#include "server/api.hpp"
#include "server/request_body.hpp"
#include "server/run_json.hpp"

namespace errand::server {
namespace {

constexpr std::int64_t kJournalPageMax = 1000;
constexpr std::int64_t kJournalPageDefault = 200;
constexpr std::size_t kJournalPageBytesMax = 4U * 1024 * 1024;

}  // namespace

Api::Answer Api::fork_run(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, run_of_path(request));
  json::Value body = json::Object();
  if (!request.body.empty()) {
    ERRAND_CO_TRY(body, json_body(request));
  }
  ERRAND_CO_TRY(auto params, parse_fork(body));
  ERRAND_CO_TRY(auto idempotency, idempotency_of(request));
  ERRAND_CO_TRY(auto fork,
                co_await engine_.fork(who, id, std::move(params), std::move(idempotency)));
  std::string out;
  json::ObjectWriter(out)
      .field("runId", fork.run.view())
      .field("streamUrl", stream_url(who, fork.run))
      .field("forkedFrom", fork_json(fork.from))
      .end();
  co_return json_response(201, std::move(out));
}

Api::Answer Api::list_journal(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, run_of_path(request));
  ERRAND_CO_TRY(auto after, integer_param(request, "after", 0, 0, INT32_MAX));
  ERRAND_CO_TRY(auto limit,
                integer_param(request, "limit", kJournalPageDefault, 1, kJournalPageMax));
  ERRAND_CO_TRY(auto page,
                co_await engine_.journal(who, id, static_cast<std::size_t>(after),
                                         static_cast<std::size_t>(limit), kJournalPageBytesMax));
  std::string out = "{\"entries\":[";
  for (std::size_t i = 0; i < page.entries.size(); ++i) append(out, i ? "," : "", page.entries[i]);
  append(out, "],\"nextCursor\":");
  if (page.has_more) {
    append(out, '"', static_cast<std::size_t>(after) + page.entries.size(), '"');
  } else {
    out += "null";
  }
  co_return json_response(200, out + "}");
}

}  // namespace errand::server

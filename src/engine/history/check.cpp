#include "engine/history/check.hpp"

#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "engine/history/check_sessions.hpp"
#include "engine/history/run_check.hpp"
#include "engine/kept_files.hpp"
#include "run/tools/tool_set.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kRunsAtOnce = 100;

Task<Result<StoredRun>> read_run(Store* store, RunRow row) {
  StoredRun run{.row = std::move(row)};
  ERRAND_CO_TRY(run.segments, co_await read_stored_log(store, run.row.key()));
  for (const SegmentPtr& segment : run.segments) {
    for (std::string& hash : hashes_of_tools(segment->journal)) {
      run.tools_hashes.push_back(std::move(hash));
    }
  }
  auto whole = co_await read_tools_back(store, run.row.key(), &run.segments);
  // Lost or damaged tools are reported as one finding, without the findings that would follow from
  // it.
  if (!whole && whole.error().code() != ErrorCode::internal) co_return std::move(whole).error();
  ERRAND_CO_TRY(run.mail, co_await store->mailboxes(run.row.key()));
  co_return run;
}

// At most one finding, as for the other rules.
Task<Result<std::optional<Finding>>> check_files(Store* store, RunKey run,
                                                 std::vector<FilePart> files) {
  for (const FilePart& file : files) {
    auto bytes = co_await store->read_blob(run, file.sha256);
    if (!bytes && bytes.error().code() != ErrorCode::not_found) co_return bytes.error();
    if (!bytes) {
      co_return Finding{
          .run = run.run,
          .rule = "file_missing",
          .sentence = cat("the bytes of \"", file.filename, "\" (", file.sha256, ") are missing")};
    }
    if (crypto::to_hex(crypto::sha256(*bytes)) == file.sha256) continue;
    co_return Finding{.run = run.run,
                      .rule = "file_damaged",
                      .sentence = cat("the bytes of \"", file.filename, "\" (", file.sha256,
                                      ") are not those that were sent")};
  }
  co_return std::optional<Finding>();
}

}  // namespace

Task<Result<CheckReport>> check_store(Store* store, OnProgress on_progress) {
  CheckReport report;
  SessionsCheck sessions;
  std::optional<RunKey> cursor;
  for (bool is_done = false; !is_done;) {
    ERRAND_CO_TRY(auto rows, co_await store->all_runs(cursor, kRunsAtOnce));
    for (RunRow& row : rows) {
      cursor = row.key();
      ERRAND_CO_TRY(auto run, co_await read_run(store, std::move(row)));
      RunCheck check(run);
      for (Finding& finding : check.findings()) report.findings.push_back(std::move(finding));
      ERRAND_CO_TRY(auto file, co_await check_files(store, run.row.key(), check.files()));
      if (file) report.findings.push_back(std::move(*file));
      ERRAND_CO_TRY(auto wrong, co_await sessions.add(store, run.row, check.state(), check.told()));
      if (wrong) report.findings.push_back(std::move(*wrong));
      for (const SegmentPtr& segment : run.segments) report.events += segment->events_count;
      ++report.runs;
    }
    is_done = rows.empty();
    if (on_progress && !is_done) on_progress(report);
  }
  ERRAND_CO_TRY(auto found, co_await sessions.findings(store));
  for (Finding& finding : found) report.findings.push_back(std::move(finding));
  co_return report;
}

}  // namespace errand::engine

#include "store/sqlite/upkeep/verify.hpp"

#include <algorithm>
#include <string_view>

#include "base/text.hpp"
#include "store/sqlite/schema.hpp"

namespace errand::sqlite {
namespace {

using Findings = std::vector<std::string>;

// Each gives sentences. A run whose removal has begun is doomed and has segments and blobs only.
constexpr const char* kRules[] = {
    "SELECT 'run ' || id || ' has status ' || status || ' but is marked as ' || "
    "CASE finished WHEN 0 THEN 'unfinished' ELSE 'finished' END "
    "FROM runs WHERE finished <> (status >= 3)",

    "SELECT 'run ' || id || ' should have ' || segments || ' segments up to seq ' || last_seq || "
    "', but its log has ' || coalesce(log.n, 0) || ' up to ' || coalesce(log.seq, 0) "
    "FROM runs LEFT JOIN (SELECT run, count(*) AS n, max(last_seq) AS seq FROM segments "
    "GROUP BY run) AS log ON log.run = runs.id "
    "WHERE log.n IS NOT runs.segments OR log.seq IS NOT runs.last_seq",

    "SELECT 'segment ' || n || ' of ' || run || ' does not lead to the one before it' "
    "FROM segments AS s WHERE n > 0 AND NOT EXISTS (SELECT 1 FROM segments AS p "
    "WHERE p.place = s.previous AND p.run = s.run AND p.n = s.n - 1) AND NOT EXISTS "
    "(SELECT 1 FROM segments AS p WHERE p.run = s.run AND p.n = s.n - 1 AND p.anchor = 1)",

    "SELECT 'the last segment of ' || id || ' cannot be found' FROM runs "
    "WHERE NOT EXISTS (SELECT 1 FROM segments "
    "WHERE place = runs.log_end AND run = runs.id AND n = runs.segments - 1 AND finished = 0) "
    "AND NOT EXISTS (SELECT 1 FROM segments "
    "WHERE run = runs.id AND n = runs.segments - 1 AND anchor = 1)",

    "SELECT DISTINCT 'segments of ' || run || ' belong to no run' FROM segments "
    "WHERE run NOT IN (SELECT id FROM runs) AND run NOT IN (SELECT run FROM doomed)",

    "SELECT 'mail ' || slot || ' of ' || run || ' belongs to no run that goes on' FROM mail "
    "WHERE (workspace, run) NOT IN (SELECT workspace, id FROM runs WHERE finished = 0)",

    "SELECT 'the idempotency key of ' || subject || ' belongs to nothing that is there' "
    "FROM idempotency WHERE subject NOT IN (SELECT id FROM runs) "
    "AND subject NOT IN (SELECT id FROM api_keys)",

    "SELECT 'run ' || run || ' is being removed but still listed' FROM doomed "
    "WHERE run IN (SELECT id FROM runs)",

    "SELECT DISTINCT 'files of ' || run || ' belong to no run' FROM blob_users "
    "WHERE run NOT IN (SELECT id FROM runs) AND run NOT IN (SELECT run FROM doomed)",

    "SELECT 'the bytes of file ' || hash || ' of ' || run || ' are missing' FROM blob_users "
    "WHERE hash NOT IN (SELECT hash FROM blobs)",

    "SELECT 'the bytes of file ' || hash || ' belong to no run' FROM blobs "
    "WHERE hash NOT IN (SELECT hash FROM blob_users)",

    "SELECT 'the row \"' || name || '\" of meta is missing' "
    "FROM (SELECT 'boot_epoch' AS name UNION SELECT 'clock') "
    "WHERE name NOT IN (SELECT key FROM meta)",
};

Result<void> add_findings(Database& database, const std::string& sql, Findings& findings) {
  Statement statement(database, sql.c_str());
  Rows rows = statement.query();
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return {};
    findings.push_back(rows.text(0));
  }
}

// SQLite may put many findings into one text, below a heading.
void add_damages(std::string_view text, Findings& findings) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line == "ok" || line.empty() || line.starts_with("***")) continue;
    findings.push_back(cat("the file is damaged: ", line));
  }
}

Result<void> check_pages(Database& database, Findings& findings) {
  Findings texts;
  auto done = add_findings(database, cat("PRAGMA integrity_check(", kFindingsMax, ")"), texts);
  for (const std::string& text : texts) add_damages(text, findings);
  return done;
}

}  // namespace

Result<std::vector<std::string>> verify(const std::string& path) {
  ERRAND_TRY(auto database, Database::open(path, Database::Access::read));
  ERRAND_TRY(std::int64_t version, database->integer("PRAGMA user_version"));
  const auto newest = static_cast<std::int64_t>(schema().size());
  if (version != newest) {
    return Error(ErrorCode::unsupported, cat("the database has schema version ", version,
                                             ", but this program checks version ", newest))
        .hint("A server brings an older database to its version when it starts on it.");
  }
  Findings findings;
  // What cannot be read any more is a finding, too, and other rules may still be read.
  auto note = [&findings](const Result<void>& done) {
    if (!done) findings.push_back(done.error().message());
  };
  note(check_pages(*database, findings));
  for (const char* rule : kRules) {
    note(add_findings(*database, cat(rule, " LIMIT ", kFindingsMax), findings));
  }
  return findings;
}

}  // namespace errand::sqlite

#include "store/sqlite/upkeep/verify.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>

#include "base/text.hpp"
#include "store/sqlite/schema.hpp"

namespace errand::sqlite {
namespace {

using Findings = std::vector<std::string>;

// Each rule returns its findings as sentences. A run whose removal has begun is in `doomed` and has
// only segments and blobs. Of a run that is being merged, the segments from `next` on should have
// the numbers from `merged` on.
constexpr const char* kRunRules[] = {
    "SELECT 'run ' || id || ' has status ' || status || ' but is marked as ' || "
    "CASE finished WHEN 0 THEN 'unfinished' ELSE 'finished' END "
    "FROM runs WHERE finished <> (status >= 3)",

    "SELECT 'run ' || id || ' goes on but has the time of an end' FROM runs "
    "WHERE finished = 0 AND ended_at <> 0",

    // The clock is saved about once a second.
    "SELECT 'run ' || id || ' has ended at a time that the store has not reached' FROM runs "
    "WHERE finished = 1 AND ended_at > 10000 + (SELECT value FROM meta WHERE key = 'clock')",

    "SELECT 'run ' || id || ' should have ' || segments || ' segments up to seq ' || last_seq || "
    "', but its log has ' || coalesce(log.n, 0) || ' up to ' || coalesce(log.seq, 0) "
    "FROM runs LEFT JOIN (SELECT run, count(*) AS n, max(last_seq) AS seq FROM segments "
    "GROUP BY run) AS log ON log.run = runs.id "
    "WHERE log.n IS NOT runs.segments OR log.seq IS NOT runs.last_seq",

    "SELECT 'segment ' || n || ' of ' || run || ' does not lead to the one before it' "
    "FROM segments AS s WHERE n > 0 AND NOT EXISTS (SELECT 1 FROM segments AS p "
    "WHERE p.place = s.previous AND p.run = s.run AND p.n = s.n - 1) AND NOT EXISTS "
    "(SELECT 1 FROM segments AS p WHERE p.run = s.run AND p.n = s.n - 1 AND p.anchor = 1) "
    "AND NOT EXISTS (SELECT 1 FROM merging WHERE run = s.run AND next = s.n AND EXISTS "
    "(SELECT 1 FROM segments AS p WHERE p.run = s.run AND p.n = merged - 1 AND p.anchor = 1)) "
    "AND run NOT IN (SELECT run FROM doomed)",

    "SELECT 'the last segment of ' || id || ' cannot be found' FROM runs LEFT JOIN merging "
    "ON merging.run = id AND next > 0 WHERE NOT EXISTS (SELECT 1 FROM segments AS s "
    "WHERE place = log_end AND s.run = id AND n = segments - 1 + coalesce(next - merged, 0))",

    "SELECT DISTINCT 'segments of ' || run || ' belong to no run' FROM segments "
    "WHERE run NOT IN (SELECT id FROM runs) AND run NOT IN (SELECT run FROM doomed)",

    "SELECT 'run ' || run || ' is being removed but still listed' FROM doomed "
    "WHERE run IN (SELECT id FROM runs)",

    "SELECT 'run ' || run || ' is being merged, but is not there or has not ended' FROM merging "
    "WHERE next > 0 AND (workspace, run) NOT IN (SELECT workspace, id FROM runs WHERE finished = "
    "1)",
};

constexpr const char* kOtherRules[] = {
    "SELECT 'mail ' || slot || ' of ' || run || ' belongs to no run that goes on' FROM mail "
    "WHERE (workspace, run) NOT IN (SELECT workspace, id FROM runs WHERE finished = 0)",

    "SELECT 'the idempotency key of ' || subject || ' belongs to nothing that is there' "
    "FROM idempotency WHERE subject NOT IN (SELECT id FROM runs) "
    "AND subject NOT IN (SELECT id FROM api_keys) "
    "AND (workspace, subject) NOT IN (SELECT workspace, id FROM sessions)",

    "SELECT 'label ' || key || ' of ' || run || ' is not in the metadata of any run' FROM labels "
    "WHERE NOT EXISTS (SELECT 1 FROM runs, json_each(iif(json_valid(metadata), metadata, '{}')) "
    "AS pair WHERE runs.workspace = labels.workspace AND runs.id = run AND pair.type = 'text' "
    "AND pair.key = labels.key AND pair.value = labels.value) AND instr(value, char(0)) = 0",

    // SQLite ends text at such a character.
    "SELECT 'run ' || runs.id || ' is not found by its metadata ' || pair.key "
    "FROM runs, json_each(iif(json_valid(metadata), metadata, '{}')) AS pair "
    "WHERE metadata <> '{}' AND pair.type = 'text' AND instr(metadata, '\\u0000') = 0 "
    "AND NOT EXISTS (SELECT 1 FROM labels WHERE labels.workspace = runs.workspace "
    "AND labels.key = pair.key AND labels.value = pair.value AND run = runs.id)",

    "SELECT DISTINCT 'files of ' || run || ' belong to no run' FROM blob_users "
    "WHERE (workspace, run) NOT IN (SELECT workspace, id FROM runs) "
    "AND run NOT IN (SELECT run FROM doomed)",

    "SELECT 'the bytes of file ' || hash || ' of ' || run || ' are missing' FROM blob_users "
    "WHERE (workspace, hash) NOT IN (SELECT workspace, hash FROM blobs)",

    "SELECT 'the bytes of file ' || hash || ' belong to no run' FROM blobs "
    "WHERE (workspace, hash) NOT IN (SELECT workspace, hash FROM blob_users)",

    "SELECT 'record ' || kind || ' ' || id || ' of ' || workspace || ' has version ' || version "
    "FROM records WHERE version < 1",

    "SELECT 'the row \"' || name || '\" of meta is missing' "
    "FROM (SELECT 'boot_epoch' AS name UNION SELECT 'clock') "
    "WHERE name NOT IN (SELECT key FROM meta)",

    "SELECT 'merging has ' || count(*) || ' rows' FROM merging HAVING count(*) <> 1",
};

// A named record (store/named_records.hpp) is a row whose body has the lines FINGERPRINT and NAME
// and then the record, a row for its name, and rows for its versions.
constexpr const char* kRecordRules[] = {
    "SELECT 'the feedback on ' || id || ' belongs to no run' FROM records "
    "WHERE kind = 'feedback' AND (workspace, id) NOT IN (SELECT workspace, id FROM runs)",

    "SELECT 'the name ' || n.id || ' belongs to no ' || substr(kind, 1, length(kind) - 5) "
    "FROM records AS n WHERE kind IN ('agent_name', 'tool_name', 'room_name') AND NOT EXISTS "
    "(SELECT 1 FROM records AS r WHERE r.workspace = n.workspace "
    "AND r.kind = substr(n.kind, 1, length(n.kind) - 5) AND r.id = CAST(n.body AS TEXT))",

    "SELECT kind || ' ' || id || ' is not found by its name' FROM "
    "(SELECT *, substr(text, instr(text, char(10)) + 1) AS rest FROM "
    "(SELECT *, CAST(body AS TEXT) AS text FROM records "
    "WHERE kind IN ('agent', 'tool', 'room'))) AS r WHERE NOT EXISTS "
    "(SELECT 1 FROM records AS n WHERE n.workspace = r.workspace AND n.kind = r.kind || '_name' "
    "AND n.id = substr(rest, 1, instr(rest, char(10)) - 1) AND CAST(n.body AS TEXT) = r.id)",

    "SELECT kind || ' ' || id || ' cannot be read' FROM "
    "(SELECT *, substr(text, instr(text, char(10)) + 1) AS rest FROM "
    "(SELECT *, CAST(body AS TEXT) AS text FROM records "
    "WHERE kind IN ('agent', 'tool', 'room'))) "
    "WHERE NOT json_valid(substr(rest, instr(rest, char(10)) + 1))",

    // Records about access rights. Some of them only the engine can judge.
    "SELECT 'the record ' || kind || ' ' || id || ' of ' || workspace || ' cannot be read' "
    "FROM records WHERE kind IN ('api-key', 'oauth-client', 'oauth-token', 'workspace', "
    "'workspace-request') AND NOT json_valid(CAST(body AS TEXT))",

    "SELECT 'oauth-token ' || id || ' of ' || workspace || ' belongs to no oauth-client' FROM "
    "(SELECT *, CAST(body AS TEXT) AS text FROM records WHERE kind = 'oauth-token') AS t "
    "WHERE CASE WHEN json_valid(text) THEN NOT EXISTS (SELECT 1 FROM records AS c "
    "WHERE c.workspace = t.workspace AND c.kind = 'oauth-client' "
    "AND c.id = json_extract(text, '$.client')) END",

    // A sealed value names its data key before a colon, and the data key names itself.
    "SELECT 'the record ' || kind || ' ' || id || ' of ' || workspace || ' cannot be read' FROM "
    "(SELECT *, CAST(body AS TEXT) AS text FROM records "
    "WHERE kind IN ('secret', 'data_key', 'room_key')) WHERE CASE "
    "WHEN NOT json_valid(text) THEN 1 "
    "WHEN json_type(text, '$.sealed') IS NOT 'text' THEN 1 "
    "WHEN kind = 'data_key' THEN json_type(text, '$.id') IS NOT 'text' "
    "ELSE instr(json_extract(text, '$.sealed'), ':') = 0 END",

    "SELECT 'room_key ' || id || ' of ' || workspace || ' is not found by its id' "
    "FROM records AS r WHERE kind = 'room_key' AND NOT EXISTS (SELECT 1 FROM "
    "(SELECT id, CAST(body AS TEXT) AS text FROM records WHERE kind = 'room_key_owner') AS o "
    "WHERE o.id = r.id AND iif(json_valid(text), json_extract(text, '$.workspace'), '') = "
    "r.workspace)",

    "SELECT 'the owner of room_key ' || id || ' is told, but there is no such key' "
    "FROM records AS o WHERE kind = 'room_key_owner' "
    "AND id NOT IN (SELECT id FROM records WHERE kind = 'room_key')",

    "SELECT kind || ' ' || id || ' lacks its version ' || version FROM records AS r "
    "WHERE kind IN ('agent', 'tool', 'room') AND NOT EXISTS "
    "(SELECT 1 FROM records AS v WHERE v.workspace = r.workspace "
    "AND v.kind = r.kind || '_version' AND v.id = r.id || '.' || printf('%010d', r.version) "
    "AND v.body = r.body)",

    "SELECT 'version ' || v.id || ' belongs to no ' || substr(kind, 1, length(kind) - 8) "
    "FROM records AS v WHERE kind IN ('agent_version', 'tool_version', 'room_version') "
    "AND NOT EXISTS (SELECT 1 FROM records AS r WHERE r.workspace = v.workspace "
    "AND r.kind = substr(v.kind, 1, length(v.kind) - 8) "
    "AND r.id = substr(v.id, 1, length(v.id) - 11) "
    "AND r.version >= CAST(substr(v.id, -10) AS INTEGER))",
};

// Entries of a history may name runs that were removed.
constexpr const char* kSessionRules[] = {
    "SELECT 'session ' || id || ' has no settings' FROM sessions "
    "WHERE (workspace, id) NOT IN (SELECT workspace, session FROM session_settings)",

    "SELECT 'settings of ' || session || ' belong to no session' FROM session_settings "
    "WHERE (workspace, session) NOT IN (SELECT workspace, id FROM sessions)",

    "SELECT 'session ' || id || ' has status ' || status || ' but ' || "
    "iif(ended_at IS NULL, 'no time of its end', 'the time of an end') FROM sessions "
    "WHERE status NOT IN (0, 1) OR (ended_at IS NULL) <> (status = 0)",

    "SELECT 'run ' || run || ' is one of session ' || session || ', which is not there' "
    "FROM session_runs WHERE (workspace, session) NOT IN (SELECT workspace, id FROM sessions)",

    "SELECT 'run ' || run || ' of session ' || session || ' is not there' FROM session_runs "
    "WHERE (workspace, run) NOT IN (SELECT workspace, id FROM runs)",

    "SELECT 'run ' || turn || ' has the turn in session ' || sessions.id || "
    "' but is no unfinished run of it' FROM sessions WHERE turn <> '' AND NOT EXISTS "
    "(SELECT 1 FROM session_runs AS s JOIN runs ON runs.workspace = s.workspace AND runs.id = run "
    "WHERE run = turn AND s.workspace = sessions.workspace AND session = sessions.id "
    "AND place = 0 AND finished = 0)",

    "SELECT 'run ' || run || ' of session ' || session || ' neither has the turn nor waits' "
    "FROM session_runs AS s JOIN runs ON runs.workspace = s.workspace AND runs.id = run "
    "JOIN sessions ON sessions.workspace = s.workspace AND sessions.id = session "
    "WHERE place = 0 AND finished = 0 AND turn <> run",

    "SELECT 'run ' || run || ' waits in session ' || session || ' with status ' || runs.status "
    "FROM session_runs AS s JOIN runs ON runs.workspace = s.workspace AND runs.id = run "
    "WHERE place <> 0 AND runs.status <> 0",

    "SELECT DISTINCT 'runs wait in session ' || session || ', but nobody has the turn' "
    "FROM session_runs AS s JOIN sessions ON sessions.workspace = s.workspace "
    "AND sessions.id = session WHERE place <> 0 AND turn = ''",

    "SELECT 'session ' || id || ' should have ' || entries || ' entries, but its history has ' || "
    "coalesce(log.n, 0) || ' up to ' || coalesce(log.last, 0) FROM sessions LEFT JOIN "
    "(SELECT workspace, session, count(*) AS n, min(n) AS first, max(n) AS last "
    "FROM session_history GROUP BY workspace, session) AS log "
    "ON log.workspace = sessions.workspace AND log.session = id "
    "WHERE coalesce(log.n, 0) <> entries OR coalesce(log.last, 0) <> entries "
    "OR coalesce(log.first, 1) <> 1",

    "SELECT DISTINCT 'a history belongs to session ' || session || ', which is not there' "
    "FROM session_history "
    "WHERE (workspace, session) NOT IN (SELECT workspace, id FROM sessions)",

    "SELECT 'the history of session ' || id || ' should have ' || bytes || "
    "' bytes, but has ' || coalesce(found, 0) FROM sessions LEFT JOIN "
    "(SELECT workspace, session, sum(length(body)) AS found "
    "FROM session_history GROUP BY workspace, session) AS log "
    "ON log.workspace = sessions.workspace AND log.session = id WHERE bytes <> coalesce(found, 0)",

    "SELECT 'session ' || id || ' should have ' || "
    "iif(has_labels, 'labels, but has none', 'no labels, but has some') FROM sessions "
    "WHERE has_labels <> ((workspace, id) IN (SELECT workspace, session FROM session_labels))",

    "SELECT 'label ' || key || ' of ' || session || ' is listed under ' || last_used_at || "
    "', which is not its last use' FROM session_label_uses AS u WHERE NOT EXISTS "
    "(SELECT 1 FROM session_labels AS l JOIN sessions AS s "
    "ON s.workspace = l.workspace AND s.id = l.session "
    "WHERE l.workspace = u.workspace AND l.key = u.key AND l.value = u.value "
    "AND l.session = u.session AND s.last_used_at = u.last_used_at)",

    "SELECT 'label ' || key || ' of ' || session || ' is not listed by its last use' "
    "FROM session_labels AS l WHERE NOT EXISTS (SELECT 1 FROM session_label_uses AS u "
    "WHERE u.workspace = l.workspace AND u.key = l.key AND u.value = l.value "
    "AND u.session = l.session)",

    "SELECT 'label ' || key || ' of ' || session || ' is not in the metadata of any session' "
    "FROM session_labels AS l WHERE NOT EXISTS (SELECT 1 FROM session_settings AS s, "
    "json_each(iif(json_valid(metadata), metadata, '{}')) AS pair "
    "WHERE s.workspace = l.workspace AND s.session = l.session AND pair.type = 'text' "
    "AND pair.key = l.key AND pair.value = l.value) AND instr(value, char(0)) = 0",

    "SELECT 'session ' || s.session || ' is not found by its metadata ' || pair.key "
    "FROM session_settings AS s, json_each(iif(json_valid(metadata), metadata, '{}')) AS pair "
    "WHERE metadata <> '{}' AND pair.type = 'text' AND instr(metadata, '\\u0000') = 0 "
    "AND NOT EXISTS (SELECT 1 FROM session_labels AS l WHERE l.workspace = s.workspace "
    "AND l.key = pair.key AND l.value = pair.value AND l.session = s.session)",
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
  // A rule that cannot be evaluated is a finding, too, and other rules may still work.
  auto note = [&findings](const Result<void>& done) {
    if (!done) findings.push_back(done.error().message());
  };
  note(check_pages(*database, findings));
  const std::initializer_list<std::span<const char* const>> parts = {kRunRules, kOtherRules,
                                                                     kRecordRules, kSessionRules};
  for (const auto& rules : parts) {
    for (const char* rule : rules) {
      note(add_findings(*database, cat(rule, " LIMIT ", kFindingsMax), findings));
    }
  }
  return findings;
}

}  // namespace errand::sqlite

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/sparse.hpp"
#include "engine/models/model_list.hpp"
#include "engine/session_spec.hpp"
#include "json/value.hpp"
#include "run/fork.hpp"
#include "run/ids.hpp"
#include "run/log/event.hpp"
#include "run/log/journal.hpp"
#include "run/log/mail.hpp"
#include "run/log/session_message.hpp"
#include "run/model_retry.hpp"
#include "run/spec.hpp"
#include "run/status.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// Of the engine, and the same for clients.
using engine::ListedModel;
using engine::ModelCheck;
using engine::ModelList;
using engine::SessionMessage;
using engine::SessionParams;

// What is said about a run.
struct RunInfo {
  RunId id;
  std::string name = {};
  RunStatus status = RunStatus::queued;
  std::string model_id = {};
  EventSeq last_seq = 0;
  Metadata metadata = {};
  SessionId session = {};       // empty: of no session
  std::string updated_at = {};  // ISO 8601
  // Not in lists.
  std::string error = {};  // why it failed
  std::string final_text = {};
  std::vector<LocalToolCall> pending = {};  // calls that wait for a client
};

inline constexpr seconds kAnswerMax{30};  // how long a server may take, unless told otherwise

struct RunQuery {
  std::optional<RunStatus> status = {};
  Metadata metadata = {};                 // every pair must match
  std::optional<SessionId> session = {};  // only its runs
  std::size_t limit = 50;
  std::string cursor = {};  // RunPage::next_cursor of the page before
  seconds timeout = kAnswerMax;
};

struct RunPage {
  std::vector<RunInfo> runs;     // the latest first
  std::string next_cursor = {};  // empty: there are no more
};

// What is said about a session.
struct SessionInfo {
  SessionId id;
  std::string name = {};
  SessionStatus status = SessionStatus::active;
  Metadata metadata = {};
  std::string model_id = {};          // that was asked for; empty: the default. Not in lists
  std::string system_prompt = {};     // of messages that bring none. Not in lists
  std::optional<RunId> current = {};  // the run that has the turn. Not in lists
  // The time limit of client calls whose tool has none, if it is known. Not in lists.
  std::optional<milliseconds> tool_timeout = {};
  std::string summary = {};    // of what was said; in lists only
  std::string last_used = {};  // ISO 8601
};

struct SessionQuery {
  std::optional<SessionStatus> status = {};
  Metadata metadata = {};  // every pair must match
  std::size_t limit = 50;
  std::string cursor = {};  // SessionPage::next_cursor of the page before
};

struct SessionPage {
  std::vector<SessionInfo> sessions;  // the last used first
  std::string next_cursor = {};       // empty: there are no more
};

// One message of a session's history.
struct SaidMessage {
  std::int64_t seq = 0;  // its place in the conversation: 1, 2, 3 ...
  RunId run;             // that brought it
  Role role = Role::user;
  std::string text;
  std::vector<RetainedCall> retained = {};  // calls that led to an answer

  friend bool operator==(const SaidMessage&, const SaidMessage&) = default;
};

// Which messages of a history are wanted.
struct HistoryQuery {
  std::int64_t after = 0;                // skips this many
  std::optional<std::size_t> last = {};  // of these, only the last ones
};

// A page of stored agents, as the protocol has them.
struct AgentPage {
  std::vector<json::Object> agents;  // the oldest first
  std::string next_cursor = {};      // empty: there are no more
};

struct ModelQuery {
  engine::ModelCheck check = engine::ModelCheck::left_out;
  std::string named = {};  // a model that the list is to have although it may only be named
  seconds timeout = kAnswerMax;
};

// A call that waits for a client, whoever takes it.
struct OpenCall {
  RunId run;
  LocalToolCall call;
  std::optional<WallTime> over = {};  // when its time is over; see Claim::at
};

// The exclusive right to make a call, for a while.
struct Claim {
  std::string id;
  std::optional<WallTime> at = {};  // when it was given, by the clock that OpenCall::over is of
};

struct CallQuery {
  std::string name = {};  // of the tool; empty: any
  std::size_t limit = 50;
  seconds wait{0};  // how long to wait for the first call
};

// What came over a connection.
struct Heard {
  std::vector<StampedEvent> events = {};
  Sparse<ModelRetry> retry = {};  // behind the events
};

// One connection to the events of a run.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // Waits for a sign of life; what comes may be no event. unavailable: the connection has broken or
  // ended. internal: what came is not an event.
  virtual Task<Result<Heard>> read() = 0;
};

// A request in the words of the caller, beside what was read from it. A server is sent the words,
// so that it sees what this version does not know; null: only what was read.
using BodyPtr = std::shared_ptr<const json::Object>;

// The verbs on runs, sessions and agents, wherever those are: at a server, or in this process.
// Lives on one home. Errors are those of the engine's verbs in either case. unavailable with the
// reason kUnreachable: no answer at all. Timeouts are for networks; in this process a verb takes as
// long as it takes.
class RunApi {
 public:
  static constexpr std::string_view kUnreachable = "unreachable";
  static constexpr std::string_view kNoMoreEvents = "no_more_events";

  virtual ~RunApi() = default;

  // A request that is repeated with the same `key` gives the run that it made before. An empty key
  // is none.
  virtual Task<Result<RunId>> create(Spec spec, std::string key = {}, BodyPtr body = nullptr) = 0;
  virtual Task<Result<RunId>> fork(RunId run, ForkParams params, std::string key = {},
                                   BodyPtr body = nullptr) = 0;
  // The events behind `after`; see RunStream for all of them over any number of connections.
  // not_found with the reason kNoMoreEvents: the run ended with the event `after`.
  virtual Task<Result<std::unique_ptr<EventSource>>> open_stream(RunId run, EventSeq after) = 0;
  // `claim` is the one that the caller holds, if any.
  virtual Task<Result<void>> answer(RunId run, ToolUseId call, ToolAnswer answer,
                                    std::string claim = {}) = 0;
  // The status is what the run will end as.
  virtual Task<Result<RunStatus>> cancel(RunId run, seconds timeout) = 0;
  virtual Task<Result<RunInfo>> get(RunId run) = 0;
  virtual Task<Result<RunPage>> list(RunQuery query) = 0;
  // The whole journal, with its secrets blotted out.
  virtual Task<Result<std::vector<JournalEntry>>> journal(RunId run) = 0;
  virtual Task<Result<engine::ModelList>> models(ModelQuery query) = 0;

  // Calls that wait for a client; see Engine::pending_calls and the verbs after it.
  virtual Task<Result<std::vector<OpenCall>>> pending_calls(CallQuery query) = 0;
  // A claim that is asked for again with the same key is the same claim.
  virtual Task<Result<Claim>> claim(ToolUseId call, milliseconds ttl, std::string key) = 0;
  virtual Task<Result<void>> extend(ToolUseId call, std::string claim, milliseconds ttl) = 0;
  virtual Task<Result<void>> report_progress(ToolUseId call, ProgressReport report) = 0;

  // Sessions. Their runs are ordinary runs.
  virtual Task<Result<SessionId>> create_session(engine::SessionParams params, std::string key,
                                                 BodyPtr body = nullptr) = 0;
  virtual Task<Result<RunId>> say(SessionId session, engine::SessionMessage message,
                                  std::string key, BodyPtr body = nullptr) = 0;
  virtual Task<Result<SessionInfo>> get_session(SessionId session) = 0;
  virtual Task<Result<SessionPage>> list_sessions(SessionQuery query) = 0;
  virtual Task<Result<std::vector<SaidMessage>>> history(SessionId session, HistoryQuery query) = 0;
  virtual Task<Result<void>> end_session(SessionId session) = 0;

  // Stored agents, as the protocol has them, by their names or ids. A `version` that is given must
  // be the latest; conflict with the reason "version_mismatch": it is not. The errors are those of
  // NamedRecords and of engine::parse_agent.
  virtual Task<Result<json::Object>> create_agent(json::Object agent, std::string key) = 0;
  // Replaces the agent, or makes one if `name` is the name of none.
  virtual Task<Result<json::Object>> put_agent(std::string name, json::Object agent,
                                               std::optional<std::int64_t> version) = 0;
  // The latest version, or the one that is named.
  virtual Task<Result<json::Object>> get_agent(std::string name_or_id,
                                               std::optional<std::int64_t> version) = 0;
  virtual Task<Result<AgentPage>> list_agents(std::size_t limit, std::string cursor) = 0;
  // The latest first.
  virtual Task<Result<std::vector<json::Object>>> agent_versions(std::string name_or_id) = 0;
  virtual Task<Result<void>> delete_agent(std::string name_or_id,
                                          std::optional<std::int64_t> version) = 0;
};

// True if the same request may be answered better a little later.
inline bool is_worth_retrying(const Error& error) {
  return error.code() == ErrorCode::unavailable || error.code() == ErrorCode::timeout ||
         error.code() == ErrorCode::rate_limited;
}

}  // namespace errand::sdk

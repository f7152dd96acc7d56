// Sessions: conversations that runs carry on, one run at a time.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "agent/file_bytes.hpp"
#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "engine/cancel_mail.hpp"
#include "engine/engine.hpp"
#include "engine/id_bounds.hpp"
#include "engine/records/agent_access.hpp"
#include "engine/records/agents.hpp"
#include "engine/session_spec.hpp"
#include "engine/shielded.hpp"
#include "json/member_text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/log/session_message.hpp"
#include "store/segment_events.hpp"

namespace errand::engine {
namespace {

// At most this many messages wait for their turn; further ones are refused.
constexpr std::size_t kQueuedMax = 100;
// A summary is made from the first messages, and from no more than it needs.
constexpr std::int64_t kSummaryEntriesMax = 6;
constexpr std::size_t kSummaryBytesRead = 16 * 1024;
constexpr std::size_t kSummaryCharsMax = 200;
constexpr std::size_t kSummaryCharsEnough = 20;
constexpr std::string_view kInterrupted = "interrupted by another message of the session";
constexpr std::string_view kEnded = "the session has ended";

// The model that the last event names, which ends the run.
Result<std::string> model_of_end(const Segment& last) {
  std::string_view line;
  for_each_event(last, last.last_seq - 1, [&](std::string_view one) { line = one; });
  const auto model = json::parse(json::member_text(line, "model"));
  const std::string_view id = json::text_at(model ? model->if_object() : nullptr, "id");
  if (id.empty()) return Error(ErrorCode::not_found, "the run has not ended");
  return std::string(id);
}

Error no_such_session(const SessionId& session) {
  return {ErrorCode::not_found, cat("there is no session \"", session.view(), "\"")};
}

Error refusal_of(SessionRefusal refused, const SessionId& session) {
  switch (refused) {
    case SessionRefusal::unknown_session: return no_such_session(session);
    case SessionRefusal::session_ended:
      return Error(ErrorCode::conflict, "the session has ended").reason("session_ended");
    case SessionRefusal::session_busy:
      return Error(ErrorCode::conflict, "a run of the session is in progress")
          .reason("session_busy")
          .hint("wait for it to end, or send with \"whenBusy\": \"queue\" or \"interrupt\"");
    case SessionRefusal::queue_full:
      return Error(ErrorCode::rate_limited,
                   cat("more than ", kQueuedMax, " messages of the session wait for their turn"))
          .reason("session_queue_full")
          .limit("queuedMessages", static_cast<std::int64_t>(kQueuedMax));
  }
  return no_such_session(session);
}

std::size_t bytes_of(const Spec& said) {
  std::size_t bytes = said.prompt ? said.prompt->size() : 0;
  for (const Message& message : said.messages) bytes += message.text.size();
  return bytes;
}

// Of a session's tools, those that its agent and its room brought.
ToolSetPtr tools_from_agent(const SessionParams& session) {
  const std::vector<ToolRef>& refs = session.spec.tools->refs;
  const auto count = static_cast<std::ptrdiff_t>(session.from_agent.tools);
  return share_tools({refs.begin(), refs.begin() + count});
}

// The session's spec with the message's overrides. As for a run, the prompt of a stored agent wins,
// and the message's tools are added to the agent's tools. Without an agent or a room, they replace
// the session's tools.
Spec spec_of(const SessionParams& session, SessionMessage message) {
  if (session.from_agent.has_prompt) message.overrides.system_prompt.reset();
  if (message.overrides.tools && session.from_agent.tools > 0) {
    message.overrides.tools = merged_tools(tools_from_agent(session), message.overrides.tools);
  }
  if (message.overrides.metadata) {
    message.overrides.metadata =
        merged_metadata(session.spec.metadata, *message.overrides.metadata);
  }
  Spec spec = override_spec(session.spec, message.overrides);
  spec.prompt = std::move(message.said.prompt);
  spec.messages = std::move(message.said.messages);
  return spec;
}

}  // namespace

// Messages may replace the session's own tools and prompt, but not those of its agent and room, so
// `from_agent` records which are which.
Task<Result<Engine::Prepared>> Engine::prepare_session(Principal who, Spec spec) {
  if (spec.agent_id.empty() && !spec.room) co_return co_await prepare(who, std::move(spec));
  const ToolSetPtr own_tools = std::exchange(spec.tools, share_tools({}));
  const std::string own_prompt = std::exchange(spec.system_prompt, "");
  ERRAND_CO_TRY(auto bare, co_await prepare(who, std::move(spec)));
  const bool has_prompt = !bare.spec.system_prompt.empty();
  if (!has_prompt) bare.spec.system_prompt = own_prompt;
  bare.spec.tools = merged_tools(bare.spec.tools, own_tools);
  const std::size_t from_agent = bare.spec.tools->refs.size() - own_tools->refs.size();
  // The agent and the room are merged in already; this call prepares the session's own tools.
  ERRAND_CO_TRY(auto whole, co_await prepare(who, std::move(bare.spec)));
  whole.from_agent = {.tools = from_agent, .has_prompt = has_prompt};
  co_return whole;
}

Task<Result<SessionId>> Engine::create_session(Principal who, SessionParams params,
                                               Idempotency idempotency) {
  if (draining_) {
    co_return Error(ErrorCode::unavailable, "the server is shutting down and takes no new sessions")
        .reason("draining");
  }
  ERRAND_CO_CHECK(check_asked(who, params.spec));
  // A spec needs something that is said; a session says nothing until its first message.
  if (!params.spec.prompt && params.spec.messages.empty()) params.spec.prompt = "";
  ERRAND_CO_TRY(auto asked, co_await prepare_session(who, std::move(params.spec)));
  params.spec = asked.spec;
  params.from_agent = asked.from_agent;
  // Reports mistakes in the spec now instead of with the first message.
  std::string model_id = params.spec.model_id;
  if (deps_.catalog.depends_on_source(model_id)) co_await deps_.catalog.refresh();
  ERRAND_CO_CHECK(co_await resolve(who, std::move(asked), model_id));
  WallTime now = deps_.clock.now();
  NewSession session{.row = {.id = deps_.ids.make<SessionIdTag>(kSessionPrefix),
                             .workspace = who.workspace,
                             .name = params.spec.name,
                             .spec = json::write(to_json(params)),
                             .metadata = json::write(labels_json(params.spec)),
                             .created_at = now,
                             .last_used_at = now},
                     .idempotency = std::move(idempotency)};
  ++counters_.durable_waits;
  ERRAND_CO_TRY(auto outcome, co_await deps_.store.create_session(std::move(session)));
  if (outcome.kind == Creation::conflict) {
    co_return Error(ErrorCode::conflict, "this Idempotency-Key was used for another request")
        .reason("idempotency_conflict");
  }
  if (outcome.kind == Creation::created) ++counters_.sessions_created;
  co_return outcome.session;
}

Task<Result<RunId>> Engine::send(Principal who, SessionId session, SessionMessage message,
                                 Idempotency idempotency) {
  ERRAND_CO_CHECK(check_overrides(who, message.overrides));
  ERRAND_CO_CHECK(check_asked(who, message.said));
  const SessionKey key{.workspace = who.workspace, .session = session};
  ERRAND_CO_TRY(const auto known, co_await known_session(key));
  ERRAND_CO_CHECK(check_conversation_bytes(static_cast<std::size_t>(known.history.bytes) +
                                           bytes_of(message.said)));
  SessionTurn turn{.session = session,
                   .when_busy = message.when_busy.value_or(known.params->when_busy),
                   .queued_max = kQueuedMax,
                   .cancel_reason = std::string(kInterrupted)};
  std::vector<RunBlob> blobs;
  for (Message& said : message.said.messages) {
    for (RunBlob& blob : agent::take_bytes(said.files)) blobs.push_back(std::move(blob));
  }
  ERRAND_CO_TRY(auto asked, co_await prepare(who, spec_of(*known.params, std::move(message))));
  std::string model_id = asked.spec.model_id;
  // Only models of a source, such as Ollama, come and go.
  if (deps_.catalog.depends_on_source(model_id)) co_await deps_.catalog.refresh();
  ERRAND_CO_TRY(auto created, co_await resolve(who, std::move(asked), model_id));
  created.session = session;
  std::vector<JournalEntry> journal;
  journal.emplace_back(std::move(created));
  ERRAND_CO_TRY(auto outcome, co_await begin(who, std::move(journal), std::move(blobs),
                                             std::move(idempotency), std::move(turn)));
  if (outcome.refused) co_return refusal_of(*outcome.refused, session);
  if (outcome.history) sessions_.note(key, *outcome.history);
  // The cancel is in the mailbox since the commit. A run of this process gets it at once.
  if (outcome.interrupted) {
    const RunKey run{who.workspace, *outcome.interrupted};
    residency_.deliver(run, filled_by(cancel_mail(run, kInterrupted)));
  }
  co_return outcome.run;
}

// A session's parameters never change, and its history only grows. If it has grown beyond the size
// that is known here, the session's next run notices.
Task<Result<SessionCache::Known>> Engine::known_session(SessionKey session) {
  SessionCache::Known known = sessions_.find(session);
  if (known.params) {
    const HistorySize told = histories_.size_of(session);
    if (told.entries > known.history.entries) known.history = told;
    co_return known;
  }
  ERRAND_CO_TRY(auto row, co_await deps_.store.find_session(session));
  const bool is_long = row.spec.size() > SessionCache::kSpecBytesMax;
  known.history = row.history();
  ERRAND_CO_TRY(auto params, co_await read_aside(&row.spec, deps_.pool, parse_session_params));
  known.params = std::make_shared<const SessionParams>(std::move(params));
  if (!is_long) sessions_.keep(session, known);
  co_return known;
}

Task<Result<SessionView>> Engine::get_session(Principal who, SessionId session) {
  ERRAND_CO_TRY(auto row, co_await deps_.store.find_session({who.workspace, session}));
  ERRAND_CO_TRY(auto params, co_await read_aside(&row.spec, deps_.pool, parse_session_params));
  co_return SessionView{.row = std::move(row), .params = std::move(params)};
}

Task<Result<std::vector<SessionEntry>>> Engine::session_history(Principal who, SessionId session,
                                                                std::int64_t after,
                                                                std::int64_t until,
                                                                std::size_t bytes_max) {
  const SessionKey key{.workspace = who.workspace, .session = session};
  std::vector<SessionEntry> entries;
  for (std::size_t bytes = 0; after < until && bytes < bytes_max;) {
    ERRAND_CO_TRY(auto page,
                  co_await deps_.store.read_history(key, after, until, bytes_max - bytes));
    if (page.empty()) break;
    after = page.back().n;
    for (SessionEntry& entry : page) {
      bytes += entry.body.size();
      entries.push_back(std::move(entry));
    }
  }
  co_return entries;
}

Task<Result<HistoryPage>> Engine::newest_history(Principal who, SessionId session,
                                                 std::int64_t after, std::int64_t until,
                                                 std::size_t bytes_max) {
  Gate::Pass pass = co_await long_reads_.enter();
  ERRAND_CO_TRY(auto entries, co_await deps_.store.read_newest_history({who.workspace, session},
                                                                       after, until, bytes_max));
  co_return HistoryPage{.entries = std::move(entries), .place = std::move(pass)};
}

Task<Result<std::vector<SessionRow>>> Engine::list_sessions(SessionFilter filter) {
  set_id_bounds(filter.created, kSessionPrefix);
  // The store walks over the sessions that are skipped, and matches of a metadata filter may be far
  // apart.
  std::optional<Gate::Pass> pass;
  if (filter.offset > 0 || !filter.metadata.empty()) {
    Gate::Pass entered = co_await long_lists_.enter();
    pass.emplace(std::move(entered));
  }
  co_return co_await deps_.store.list_sessions(std::move(filter));
}

Task<Result<std::string>> Engine::model_in_use(SessionRow session) {
  if (session.entries == 0) co_return Error(ErrorCode::not_found, "nobody has answered");
  Gate::Pass pass = co_await long_reads_.enter();
  ERRAND_CO_TRY(auto last, co_await deps_.store.read_newest_history(
                               session.key(), session.entries - 1, session.entries, 1));
  if (last.empty()) co_return Error(ErrorCode::not_found, "the session is gone");
  ERRAND_CO_TRY(auto row, co_await deps_.store.find({session.workspace, last.back().run}));
  ERRAND_CO_TRY(auto end, co_await deps_.store.read_events(row.key(), row.last_seq - 1, 1));
  if (end.empty()) co_return Error(ErrorCode::not_found, "the run has no events");
  BlockingPool* pool = end.back()->events.size() > kBytesInABreath ? deps_.pool : nullptr;
  auto model = co_await run_aside(pool, [last = end.back()] { return model_of_end(*last); });
  co_return model;
}

Task<Result<std::string>> Engine::summary_of(Principal who, SessionRow session) {
  const std::int64_t until = std::min(session.entries, kSummaryEntriesMax);
  ERRAND_CO_TRY(auto first, co_await session_history(who, session.id, 0, until, kSummaryBytesRead));
  std::string summary;
  for (const SessionEntry& entry : first) {
    ERRAND_CO_TRY(auto kept, parse_history_entry(entry.body));
    append(summary, summary.empty() ? "" : " ", kept.message.text);
    if (utf8_length(summary) >= kSummaryCharsEnough) break;
  }
  std::string_view shown = utf8_prefix(summary, kSummaryCharsMax);
  co_return cat(shown, shown.size() < summary.size() ? "…" : "");
}

Task<Result<std::int64_t>> Engine::count_sessions(SessionFilter filter) {
  set_id_bounds(filter.created, kSessionPrefix);
  Gate::Pass pass = co_await long_lists_.enter();
  co_return co_await deps_.store.count_sessions(std::move(filter));
}

Task<Result<bool>> Engine::end_session(Principal who, SessionId session) {
  const SessionKey key{who.workspace, session};
  ++counters_.durable_waits;
  auto ended = co_await deps_.store.end_session(key, std::string(kEnded));
  if (ended) {
    deliver_end(who.workspace, *ended, kEnded);
  } else if (ended.error().code() == ErrorCode::outcome_unknown) {
    ended = co_await shielded(&tasks_, "engine.end_session", end_surely(key, std::string(kEnded)));
  }
  if (!ended) co_return std::move(ended).error();
  co_return ended->was_active;
}

void Engine::deliver_end(const WorkspaceSlug& workspace, const EndedSession& ended,
                         std::string_view reason) {
  for (const RunId& run : ended.cancelled) {
    const RunKey key{workspace, run};
    residency_.deliver(key, filled_by(cancel_mail(key, reason)));
  }
}

}  // namespace errand::engine

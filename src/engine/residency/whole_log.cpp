#include "engine/residency/whole_log.hpp"

#include <cstdint>
#include <utility>

#include "agent/session_history.hpp"
#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "engine/residency/paged_journal.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "run/log/journal.hpp"
#include "run/tools/tool_set.hpp"
#include "store/log_pages.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kBytesAtOnce = 4U * 1024 * 1024;

int number_in(const json::Object& object, std::string_view key) {
  return static_cast<int>(json::integer_at(&object, key).value_or(-1));
}

Result<EventFacts> read_event(std::string_view line, EventSeq seq) {
  auto wrong = [&](std::string_view what) {
    return Error(ErrorCode::internal, cat("event ", seq, " ", what));
  };
  // Streams cut the line apart at these places, without parsing it.
  if (!line.starts_with(cat("{\"seq\":", seq, ",\"type\":\""))) {
    return wrong("does not begin with its seq and a type");
  }
  auto value = json::parse(line);
  if (!value || !value->is_object()) return wrong("is not a JSON object");
  const json::Object& event = value->get_object();
  EventFacts facts{.seq = seq,
                   .type = std::string(json::text_at(&event, "type")),
                   .turn = number_in(event, "turn"),
                   .attempt = number_in(event, "attempt"),
                   .call = std::string(json::text_at(&event, "toolUseId"))};
  if (facts.type.empty()) return wrong("has no type");
  const json::Array* listed = json::array_at(&event, "toolCalls");
  for (std::size_t i = 0; listed && i < listed->size(); ++i) {
    facts.listed.emplace_back(json::text_at((*listed)[i].if_object(), "id"));
  }
  return facts;
}

Task<Result<std::string>> read_tools(Store* store, RunKey run, std::string hash) {
  auto text = co_await store->read_blob(run, hash);
  bool is_lost = !text && text.error().code() == ErrorCode::not_found;
  bool is_damaged = text && crypto::to_hex(crypto::sha256(*text)) != hash;
  if (is_lost || is_damaged) {
    co_return Error(ErrorCode::internal,
                    cat("the tools of the run (", hash, ") are ", is_lost ? "lost" : "damaged"));
  }
  co_return text;
}

// If the pool is full, the entry is read here.
Task<Result<JournalEntry>> read_entry(BlockingPool* pool, JournalLine line, std::size_t number) {
  if (!pool || line.text.size() <= kBytesInABreath) co_return parse_journal_line(line.text, number);
  auto read = [line, number] { return parse_journal_line(line.text, number); };
  auto entry = co_await surely_aside(pool, std::move(read));
  co_return entry;
}

}  // namespace

Task<Result<void>> read_tools_back(Store* store, RunKey run, std::vector<SegmentPtr>* segments) {
  for (SegmentPtr& segment : *segments) {
    std::vector<std::string> hashes = hashes_of_tools(segment->journal);
    if (hashes.empty()) continue;
    Segment whole = *segment;
    for (const std::string& hash : hashes) {
      ERRAND_CO_TRY(auto tools, co_await read_tools(store, run, hash));
      put_tools_back(whole.journal, hash, tools);
    }
    segment = std::make_shared<const Segment>(std::move(whole));
  }
  co_return Result<void>();
}

Task<Result<std::vector<SegmentPtr>>> read_whole_log(Store* store, RunKey run) {
  ERRAND_CO_TRY(auto segments, co_await read_stored_log(store, run));
  auto whole = co_await read_tools_back(store, run, &segments);
  if (!whole) co_return std::move(whole).error();
  co_return segments;
}

Task<Result<std::vector<SegmentPtr>>> read_stored_log(Store* store, RunKey run) {
  LogPages log;
  while (!log.is_whole()) {
    ERRAND_CO_TRY(auto page, co_await store->read_log(run, log.after(), kBytesAtOnce));
    log.add(page);
  }
  co_return log.take();
}

Task<Result<std::unique_ptr<agent::State>>> fold_run(Store* store, BlockingPool* pool, RunKey run,
                                                     Fold fold) {
  PagedJournal journal(*store, run, 0, {});
  auto state = std::make_unique<agent::State>();
  Breath breath(kBytesInABreath);
  for (std::size_t number = 1;; ++number) {
    ERRAND_CO_TRY(auto line, co_await journal.next());
    if (!line) co_return state;
    ERRAND_CO_TRY(JournalEntry entry, co_await read_entry(pool, *line, number));
    const auto* turn = std::get_if<TurnEntry>(&entry);
    if (turn && turn->history && !state->has_begun()) {
      SessionKey session{.workspace = run.workspace, .session = state->created().session};
      ERRAND_CO_TRY(auto history, co_await agent::read_history(store, session, *turn->history));
      state->begin_after(std::move(history));
    }
    if (auto* outcome = std::get_if<OutcomeEntry>(&entry); outcome && fold == Fold::brief) {
      outcome->text.clear();
      outcome->text.shrink_to_fit();  // the state keeps the string itself
    }
    state->apply(std::move(entry));
    if (breath.is_due(line->text.size())) co_await let_others_run();
  }
}

std::string journal_of(const std::vector<SegmentPtr>& segments) {
  std::string journal;
  for (const SegmentPtr& segment : segments) journal += segment->journal;
  return journal;
}

Result<void> add_event_facts(std::vector<EventFacts>& events, const Segment& segment) {
  for (std::string_view rest = segment.events; !rest.empty();) {
    std::string_view line = take_line(rest);
    ERRAND_TRY(auto event, read_event(line, static_cast<EventSeq>(events.size()) + 1));
    events.push_back(std::move(event));
  }
  return {};
}

Result<std::vector<EventFacts>> read_event_facts(const std::vector<SegmentPtr>& segments) {
  std::vector<EventFacts> events;
  for (const SegmentPtr& segment : segments) ERRAND_CHECK(add_event_facts(events, *segment));
  return events;
}

}  // namespace errand::engine

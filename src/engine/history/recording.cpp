#include "engine/history/recording.hpp"

#include <algorithm>
#include <utility>

#include "agent/fold/arguments.hpp"
#include "agent/fold/state.hpp"
#include "base/text.hpp"
#include "engine/history/check_log.hpp"
#include "json/members.hpp"
#include "json/write.hpp"

namespace errand::engine {
namespace {

std::string text_in(const json::Value& event, std::string_view key) {
  return std::string(json::text_at(event.if_object(), key));
}

EventSeq seq_of(const json::Value& event) {
  return json::integer_at(event.if_object(), "seq").value_or(0);
}

ModelFailure broken_stream() {
  return {
      .error_class = "server", .message = "the stream of the model broke off", .retryable = true};
}

ModelFailure refusal() {
  return {.error_class = "invalid_request", .message = "not like this", .api_status = 400};
}

// One request to the model, with the journal entries that belong to it.
struct Asked {
  TurnEntry turn;
  std::vector<CallEntry> calls;
  std::optional<TurnEndEntry> end;
  bool is_cancelled = false;  // before the end of the answer
};

// Merges the events of an attempt with its calls, because not every call has an event.
class AttemptWriter final {
 public:
  explicit AttemptWriter(const Asked& asked) : asked_(asked) {}

  void take(const json::Value& event) {
    std::string type = text_in(event, "type");
    if (type == "assistant_delta") {
      std::string text = text_in(event, "text");
      // The text in a call's entry ends where the call's block was closed.
      if (!text.empty()) close_calls_at(text_);
      text_ += text.size();
      out_.events.emplace_back(llm::TextDelta{std::move(text)});
    } else if (type == "thinking_delta") {
      out_.events.emplace_back(llm::ThinkingDelta{text_in(event, "text")});
    } else if (type == "local_tool_call" || type == "tool_call") {
      close_calls_up_to(text_in(event, "toolUseId"));
    }
  }

  RecordedAttempt finish(const Asked* next, const Sparse<TerminalEntry>& end) {
    while (closed_ < asked_.calls.size()) close_next();
    if (asked_.end && asked_.end->answered_by) {
      out_.events.insert(out_.events.begin(), *asked_.end->answered_by);
    }
    bool is_whole = asked_.end && !asked_.end->fatal;
    if (is_whole && asked_.end->finish_reason != agent::kInterrupted) {
      for (const std::string& block : asked_.end->blocks) {
        out_.events.emplace_back(llm::BlockClosed{block});
      }
      out_.events.emplace_back(
          llm::Finished{.finish_reason = asked_.end->finish_reason, .usage = asked_.end->usage});
    } else if (auto failure = failure_before(next, end)) {
      // If no request follows, the failure was final.
      out_.events.emplace_back(llm::Failed{.failure = std::move(*failure),
                                           .is_settled = !next,
                                           .refuses_schema = next && next->turn.plain_output});
    } else {
      out_.is_cut_off = true;
    }
    return std::move(out_);
  }

 private:
  // Why the attempt broke off; empty if the run itself ended it, or if it has no end yet.
  Sparse<ModelFailure> failure_before(const Asked* next, const Sparse<TerminalEntry>& end) const {
    if (asked_.is_cancelled) return {};
    if (asked_.end) return asked_.end->fatal ? *asked_.end->fatal : broken_stream();
    if (next) return is_refused(next->turn) ? refusal() : broken_stream();
    if (!end || !end->subtype.empty()) return {};
    return ModelFailure{.error_class = end->error_class,
                        .message = end->message,
                        .retryable = end->retryable,
                        .api_status = end->api_status,
                        .api_code = end->api_code};
  }

  // Only a vendor that rejects the request as it stands is asked again in another way.
  bool is_refused(const TurnEntry& next) const {
    return (next.retells && !asked_.turn.retells) || next.plain_output;
  }

  void close_calls_at(std::size_t text) {
    while (closed_ < asked_.calls.size() &&
           closed_text_ + asked_.calls[closed_].text.size() <= text) {
      close_next();
    }
  }

  void close_calls_up_to(const std::string& id) {
    auto found = std::find_if(asked_.calls.begin(), asked_.calls.end(),
                              [&](const CallEntry& call) { return call.id.view() == id; });
    auto end = static_cast<std::size_t>(found - asked_.calls.begin());
    while (found != asked_.calls.end() && closed_ <= end) close_next();
  }

  void close_next() {
    const CallEntry& call = asked_.calls[closed_++];
    closed_text_ += call.text.size();
    for (const std::string& block : call.blocks) {
      out_.events.emplace_back(llm::BlockClosed{block});
    }
    out_.events.emplace_back(llm::CallClosed{
        .provider_id = call.provider_id, .name = call.name, .arguments = call.arguments});
  }

  const Asked& asked_;
  RecordedAttempt out_;
  std::size_t text_ = 0;  // bytes of text so far
  std::size_t closed_ = 0;
  std::size_t closed_text_ = 0;  // bytes of text up to the last closed call
};

// Reads the journal behind the entries that the run began with.
class RecordingReader final {
 public:
  explicit RecordingReader(const CreatedEntry& created) : created_(created) {}

  void take(const JournalEntry& entry) {
    std::visit([this](const auto& one) { take_entry(one); }, entry);
  }

  std::vector<Asked> asked;
  std::vector<RecordedNews> news;
  Sparse<TerminalEntry> end;

 private:
  void take_entry(const CreatedEntry&) {}
  void take_entry(const ToolsEntry&) {}
  void take_entry(const ResumedEntry&) {}
  void take_entry(const NoteEntry&) {}
  void take_entry(const SampledEntry&) {}
  void take_entry(const AnswerEntry&) {}
  void take_entry(const TurnEntry& entry) { asked.push_back({.turn = entry}); }
  void take_entry(const TurnEndEntry& entry) { asked.back().end = entry; }
  void take_entry(const TerminalEntry& entry) { end = entry; }

  void take_entry(const CallEntry& entry) {
    numbers_[entry.id] = numbers_.size();
    asked.back().calls.push_back(entry);
  }

  void take_entry(const CancelEntry&) {
    is_cancelled_ = true;
    asked.back().is_cancelled = !asked.back().end;
    news.emplace_back(RecordedCancel{.attempts = asked.size()});
  }

  void take_entry(const OutcomeEntry& entry) {
    const std::vector<CallEntry>& calls = asked.back().calls;
    auto call = std::find_if(calls.begin(), calls.end(),
                             [&](const CallEntry& one) { return one.id == entry.id; });
    const std::vector<ToolDecl>& tools = *created_.tools;
    auto tool = std::find_if(tools.begin(), tools.end(),
                             [&](const ToolDecl& one) { return one.name == call->name; });
    // Outcomes that needed no answer are made again by the replay: a call that was never made, and
    // a call in the server that a cancel cuts off.
    if (tool == tools.end() || entry.synthetic) return;
    if (!agent::parse_arguments(call->arguments)) return;
    if (tool->site == ToolSite::host && is_cancelled_) return;
    news.emplace_back(RecordedAnswer{.call = numbers_.at(entry.id),
                                     .site = tool->site,
                                     .answer = {.ok = entry.ok,
                                                .text = entry.text,
                                                .timed_out = entry.timed_out,
                                                .files = entry.files,
                                                .is_fatal = entry.is_fatal},
                                     .child_turns = entry.child_turns});
  }

  const CreatedEntry& created_;
  std::map<ToolUseId, std::size_t> numbers_;
  bool is_cancelled_ = false;
};

// Whether an event of this type ends what is shown of an attempt.
bool ends_attempt(std::string_view type) {
  return type == "assistant_message" || type == "turn_restarted" || type == "result" ||
         type == "error" || type == "cancelled";
}

RecordedAttempt read_attempt(const std::vector<Asked>& asked, std::size_t i,
                             const std::vector<json::Value>& events,
                             const Sparse<TerminalEntry>& end) {
  const Asked* next = i + 1 < asked.size() ? &asked[i + 1] : nullptr;
  AttemptWriter writer(asked[i]);
  // If two attempts begin at the same seq, nothing of the first was shown.
  bool is_shown = !next || next->turn.after_seq > asked[i].turn.after_seq;
  for (const json::Value& event : events) {
    if (!is_shown || seq_of(event) <= asked[i].turn.after_seq) continue;
    if (ends_attempt(text_in(event, "type"))) break;
    writer.take(event);
  }
  return writer.finish(next, end);
}

Result<std::vector<JournalEntry>> read_journal(const RunExport& run) {
  std::string journal;
  for (const json::Value& entry : run.journal) append(journal, json::write(entry), "\n");
  auto entries = parse_journal(journal);
  if (!entries) return Error(ErrorCode::invalid_argument, entries.error().message());
  if (auto broken = check_order(*entries)) return Error(ErrorCode::invalid_argument, *broken);
  return entries;
}

// A replayed run has its tools at once, because no server is asked about them.
void bind_at_once(std::vector<JournalEntry>& entries) {
  auto later = std::find_if(entries.begin(), entries.end(), [](const JournalEntry& entry) {
    return std::holds_alternative<ToolsEntry>(entry);
  });
  if (later == entries.end()) return;
  auto& created = std::get<CreatedEntry>(entries.front());
  std::vector<ToolDecl> tools = *created.tools;
  for (const ToolDecl& tool : *std::get<ToolsEntry>(*later).tools) tools.push_back(tool);
  created.tools = share_decls(std::move(tools));
  created.unbound.clear();
  entries.erase(later);
}

}  // namespace

Result<Recording> read_recording(const RunExport& run) {
  ERRAND_TRY(auto entries, read_journal(run));
  bind_at_once(entries);
  const auto& created = std::get<CreatedEntry>(entries.front());
  int first_own = created.forked_from ? created.forked_from->turns : 0;
  auto is_first = [&](const JournalEntry& entry) {
    const auto* turn = std::get_if<TurnEntry>(&entry);
    return turn && turn->turn == first_own;
  };
  auto first = std::find_if(entries.begin(), entries.end(), is_first);
  if (first == entries.end()) {
    return Error(ErrorCode::invalid_argument, "the journal has no turn of the run's own");
  }
  RecordingReader reader(created);
  for (auto entry = first; entry != entries.end(); ++entry) reader.take(*entry);
  Recording recording{.head = {entries.begin(), first + 1},
                      .news = std::move(reader.news),
                      .events = run.events,
                      .end = std::move(reader.end)};
  // The run is replayed without its session. The earlier messages make no difference to a model
  // that only repeats its recorded answers.
  for (JournalEntry& entry : recording.head) {
    if (auto* begun = std::get_if<CreatedEntry>(&entry)) begun->session = {};
    if (auto* turn = std::get_if<TurnEntry>(&entry)) turn->history.reset();
  }
  for (std::size_t i = 0; i < reader.asked.size(); ++i) {
    recording.attempts.push_back(read_attempt(reader.asked, i, run.events, recording.end));
  }
  for (const json::Value& event : run.events) {
    if (text_in(event, "type") == "tool_call")
      recording.host_tools.push_back(text_in(event, "name"));
  }
  return recording;
}

}  // namespace errand::engine

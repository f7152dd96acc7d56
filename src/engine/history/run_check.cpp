#include "engine/history/run_check.hpp"

#include <algorithm>
#include <utility>

#include "agent/fold/arguments.hpp"
#include "agent/fold/offers.hpp"
#include "agent/fold/refusal.hpp"
#include "agent/session_history.hpp"
#include "base/text.hpp"
#include "engine/kept_files.hpp"
#include "json/write.hpp"
#include "run/log/mail.hpp"
#include "run/question_id.hpp"
#include "run/tools/tool_set.hpp"
#include "store/segment_events.hpp"

namespace errand::engine {
namespace {

// The name of a status, which for a running run may be `waiting`.
std::string_view name_of(RunStatus status) {
  return status == RunStatus::waiting ? "waiting" : to_string(status);
}

}  // namespace

std::vector<Finding> RunCheck::findings() {
  if (check_log()) {
    check_row();
    check_status();
    for (BrokenRule& broken : check_events(entries_, events_)) add(std::move(broken));
    check_mail();
  }
  return std::move(findings_);
}

ToldHistory RunCheck::told() const {
  ToldHistory told;
  const bool is_readable = !entries_.empty() && state_.terminal();
  if (!is_readable || state_.terminal()->status != RunStatus::succeeded) return told;
  if (state_.created().session.empty()) return told;
  for (const JournalEntry& entry : entries_) {
    const auto* turn = std::get_if<TurnEntry>(&entry);
    if (turn && turn->history) told.after = *turn->history;
  }
  told.bodies = agent::added_history(agent::addition_of(state_)).bodies;
  return told;
}

void RunCheck::add(BrokenRule broken) {
  bool is_known = std::any_of(findings_.begin(), findings_.end(),
                              [&](const Finding& one) { return one.rule == broken.rule; });
  if (is_known) return;
  findings_.push_back(
      {.run = row_.id, .rule = broken.rule, .sentence = std::move(broken.sentence)});
}

bool RunCheck::check_log() {
  if (auto broken = check_segments(run_.segments)) {
    add(std::move(*broken));
    return false;
  }
  auto events = read_event_facts(run_.segments);
  if (!events) {
    add({"event_lines", events.error().message()});
    return false;
  }
  events_ = std::move(*events);
  for (const std::string& hash : run_.tools_hashes) {
    files_.push_back({.filename = "the run's tools", .sha256 = hash});
  }
  auto entries = parse_journal(journal_of(run_.segments));
  if (!entries) {
    add({"journal", entries.error().message()});
    return false;
  }
  entries_ = std::move(*entries);
  if (auto broken = check_order(entries_)) {
    add({"journal_order", std::move(*broken)});
    return false;
  }
  for (const JournalEntry& entry : entries_) {
    state_.apply(entry);
    add_files(files_of(entry));
  }
  return true;
}

void RunCheck::add_files(const std::vector<FilePart>& files) {
  for (const FilePart& file : files) {
    if (file.url.empty()) files_.push_back(file);
  }
}

void RunCheck::check_row() {
  const CreatedEntry& created = state_.created();
  auto segments = static_cast<std::int32_t>(run_.segments.size());
  auto last_seq = static_cast<EventSeq>(events_.size());
  compare("row_segments", "segments", row_.segments, segments);
  compare("row_last_seq", "last_seq", row_.last_seq, last_seq);
  compare("row_name", "name", row_.name, created.spec.name);
  compare("row_model", "model", row_.model_id, created.model.id);
  compare("row_created_at", "created_at", to_millis(row_.created_at), to_millis(created.at));
  compare("row_format", "format", row_.format, created.format);
  compare("row_session", "session", row_.session.view(), created.session.view());
  if (created.ends_by != StoreTime()) {
    compare("row_ends_by", "ends_by", to_millis(row_.ends_by), to_millis(created.ends_by));
  }
  compare("row_updated_at", "updated_at", to_millis(row_.updated_at),
          to_millis(run_.segments.back()->at));
  // Earlier versions kept the metadata without labels.
  const std::string bare = json::write(metadata_json(created.spec));
  const std::string labels = json::write(labels_json(created.spec));
  if (!is_same_json(row_.metadata, labels) && !is_same_json(row_.metadata, bare)) {
    compare("row_metadata", "metadata", row_.metadata, labels);
  }
}

template <class T>
void RunCheck::compare(const char* rule, const char* what, const T& in_row, const T& in_log) {
  if (in_row == in_log) return;
  add({rule, cat("the row says ", what, " = ", in_row, ", but the log says ", in_log)});
}

void RunCheck::check_status() {
  RunStatus status = row_.status;
  if (const auto& end = state_.terminal()) {
    compare("row_status", "status", name_of(status), name_of(end->status));
    return;
  }
  // A run of a session may wait for its turn before the model is asked, any other run for a slot.
  bool has_session = !state_.created().session.empty();
  bool may_queue = has_session ? !state_.has_begun() : row_.segments == 1;
  if (status == RunStatus::queued && may_queue) return;
  bool has_ended_turn = state_.turn().end.has_value();
  bool waits = has_ended_turn && state_.waits_for_client();
  // The run continues with the last answer, but may not have come to that yet.
  bool may_wait = waits || (has_ended_turn && state_.all_calls_finished());
  bool fits = status == RunStatus::waiting ? may_wait : status == RunStatus::running && !waits;
  if (!fits) compare("row_status", "status", name_of(status), waits ? "waiting" : "running");
}

void RunCheck::compare(const char* rule, const char* what, std::string_view in_row,
                       const char* in_log) {
  compare<std::string_view>(rule, what, in_row, in_log);
}

std::set<std::string> RunCheck::offered_calls() {
  std::set<std::string> slots;
  if (agent::holds_calls(state_)) return slots;
  if (state_.turn().end && agent::batch_refusal(state_)) return slots;
  const std::vector<agent::CallState>& calls = state_.turn().calls;
  const DispatchOrder order = state_.dispatch_order();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const agent::CallState& call = calls[i];
    bool is_clients = call.tool && call.tool->site == ToolSite::client;
    if (is_clients && !call.outcome && order.may_start(i) &&
        !agent::refusal_of(state_, call, schemas_)) {
      slots.insert(call.id.str());
    }
  }
  return slots;
}

void RunCheck::check_mail() {
  if (state_.terminal()) {
    if (!run_.mail.empty()) {
      add({"ended_mail", cat("the run has ended, but has mail in ", run_.mail.front().slot)});
    }
    return;
  }
  std::set<std::string> offered = offered_calls();
  std::set<std::string> slots;
  for (const Mailbox& box : run_.mail) {
    check_box(box, offered);
    slots.insert(box.slot);
  }
  // When the run is about to end, no more calls are offered; earlier offers stay.
  if (state_.cancel() || state_.is_over_turn_limit()) return;
  for (const std::string& slot : offered) {
    if (!slots.contains(slot)) {
      add({"call_mail", cat("the call ", slot, " waits for a client, but has no mailbox")});
    }
  }
}

std::optional<LocalToolCall> RunCheck::shown_question(std::string_view slot) const {
  std::optional<LocalToolCall> asked;
  for (const SegmentPtr& segment : run_.segments) {
    if (segment->events.find(slot) == std::string::npos) continue;
    for_each_event(*segment, 0, [&](std::string_view line) {
      auto stamped = line.find(slot) == std::string_view::npos
                         ? Result<StampedEvent>(Error(ErrorCode::not_found, ""))
                         : parse_event(line);
      auto* call = stamped ? std::get_if<LocalToolCall>(&stamped->event) : nullptr;
      if (call && call->id.view() == slot) asked = std::move(*call);
    });
  }
  return asked;
}

void RunCheck::check_request(const Mailbox& box) {
  // Older versions of Errand did not keep requests.
  if (box.request.empty() && state_.created().format == 1) return;
  auto id = ToolUseId::parse(box.slot);
  const agent::CallState* call = id ? state_.find_call(*id) : nullptr;
  const auto asked =
      call ? agent::offer_of(*call, agent::shown_arguments(*call)) : shown_question(box.slot);
  const bool offer_again = call && agent::promises_repeat(*call->tool);
  const bool is_same =
      asked && box.kind == MailKind::tool_result && box.name == asked->name &&
      box.offer_again == offer_again &&
      parse_mail_request(box.request) == parse_mail_request(to_mail_request(*asked));
  if (is_same) return;
  add({"call_request", cat("the mailbox for ", box.slot, " asks for something else than the log")});
}

bool RunCheck::is_asked_by_open_call(std::string_view slot) const {
  auto id = asking_call(slot);
  const agent::CallState* call = id ? state_.find_call(*id) : nullptr;
  return call && !call->outcome && call->tool && call->tool->site == ToolSite::host;
}

void RunCheck::check_box(const Mailbox& box, const std::set<std::string>& offered) {
  if (box.kind == MailKind::cancel) {
    if (box.slot != kCancelSlot || !box.filled) {
      add({"mail_body", cat("the cancel request in ", box.slot, " is not one")});
    }
    return;
  }
  if (box.kind == MailKind::progress) {
    if (!parse_progress(box.body)) {
      add({"mail_body", cat("the mail in ", box.slot, " is not a progress report")});
    }
    return;
  }
  if (!offered.contains(box.slot) && !is_asked_by_open_call(box.slot)) {
    add({"call_mail", cat("there is a mailbox for ", box.slot,
                          ", which is not a call that waits for a client")});
  } else {
    check_request(box);
  }
  if (!box.filled) return;
  auto answer = parse_tool_answer(box.body);
  if (!answer) {
    add({"mail_body",
         cat("the mail in ", box.slot, " is not an answer: ", answer.error().message())});
    return;
  }
  add_files(answer->files);
}

}  // namespace errand::engine

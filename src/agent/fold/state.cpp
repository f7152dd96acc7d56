#include "agent/fold/state.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "async/breath.hpp"
#include "base/assert.hpp"
#include "base/text.hpp"
#include "run/question_id.hpp"
#include "tool/dispatch_order.hpp"

namespace errand::agent {
namespace {

std::size_t bytes_of(const std::vector<std::string>& blocks) {
  std::size_t bytes = 0;
  for (const std::string& block : blocks) bytes += block.size();
  return bytes;
}

std::size_t bytes_of(const std::vector<llm::MessagePtr>& messages) {
  std::size_t bytes = 0;
  for (const llm::MessagePtr& message : messages) bytes += conversation_bytes_of(*message);
  return bytes;
}

}  // namespace

void State::apply(JournalEntry entry) {
  std::visit([this](auto& one) { apply_entry(std::move(one)); }, entry);
}

void State::apply_entry(CreatedEntry entry) {
  created_ = std::make_shared<const CreatedEntry>(std::move(entry));
  tools_ = created_->tools;
  const std::shared_ptr<const Spec> spec(created_, &created_->spec);
  messages_ = opening_messages(spec);
  opening_size_ = messages_.size();
  bool has_more = std::any_of(spec->messages.begin(), spec->messages.end(),
                              [](const Message& one) { return one.role == Role::system; });
  system_prompt_ = has_more ? llm::share_text(whole_system_prompt(*spec))
                            : llm::TextPtr(created_, &created_->spec.system_prompt);
  conversation_bytes_ = system_prompt_->size() + bytes_of(messages_);
}

void State::begin_after(Past history) {
  conversation_bytes_ += history.bytes();
  past_ = std::move(history);
}

void State::apply_entry(const ToolsEntry& entry) {
  std::vector<ToolDecl> tools = *created_->tools;
  tools.insert(tools.end(), entry.tools->begin(), entry.tools->end());
  tools_ = share_decls(std::move(tools));
  is_bound_ = true;
  add_rules(*entry.tools);
}

// What servers and rooms say about the use of their tools comes after the caller's own words.
void State::add_rules(const std::vector<ToolDecl>& tools) {
  std::string rules;
  for (const ToolDecl& tool : tools) {
    for (const std::string& rule : tool.rules) append(rules, rules.empty() ? "" : "\n", "- ", rule);
  }
  if (rules.empty()) return;
  system_prompt_ =
      llm::share_text(cat(*system_prompt_, system_prompt_->empty() ? "" : "\n\n", rules));
}

void State::apply_entry(const ResumedEntry&) {
  is_just_resumed_ = true;
  for (CallState& call : turn_.calls) {
    if (!call.outcome) ++call.resumes;
  }
}

void State::apply_entry(const TurnEntry& entry) {
  if (is_own(entry.turn)) ++asked_;
  const bool is_new = entry.turn > turn_.index;
  if (is_new && !turn_.calls.empty()) close_batch();
  if (is_new && entry.prompt) {
    Message said;
    said.text = *entry.prompt;
    conversation_bytes_ += said.text.size();
    messages_.push_back(std::make_shared<const Message>(std::move(said)));
  }
  bool follows_frozen =
      is_new ? turn_.end && turn_.end->finish_reason == kInterrupted : turn_.follows_frozen;
  bool was_retold = !is_new && turn_.retells;
  turn_ = {.index = entry.turn, .attempt = entry.attempt, .after_seq = entry.after_seq};
  call_indices_.clear();
  turn_.follows_frozen = follows_frozen;
  turn_.retells = entry.retells;
  turn_.tools_off = entry.tools_off;
  turn_.repairs = entry.repairs;
  was_repaired_ = was_repaired_ || entry.repairs;
  is_asked_plainly_ = is_asked_plainly_ || entry.plain_output;
  if (entry.retells && !was_retold) retell_frozen_turn();
}

// How a turn's calls ended is known only when the last of them has ended. Their results move into
// the conversation and are read only there from now on.
void State::close_batch() {
  if (is_own(turn_.index)) {
    for (const CallState& call : turn_.calls) {
      ERRAND_ASSERT(call.outcome);
      tool_turns_ += call.outcome->child_turns + call.samples;
    }
    batches_.back() = batch_of(*this);
  }
  Message results;
  for (CallState& call : turn_.calls) {
    ERRAND_ASSERT(call.outcome);
    results.results.push_back({.id = std::move(call.id),
                               .provider_id = std::move(call.provider_id),
                               .name = std::move(call.name),
                               .ok = call.outcome->ok,
                               .text = std::move(call.outcome->text),
                               .files = std::move(call.outcome->files)});
  }
  messages_.push_back(std::make_shared<const Message>(std::move(results)));
}

// Some vendors refuse an assistant turn that was cut off. Its calls are then repeated as text, so
// that the model neither forgets them nor makes them again. The messages are replaced and not
// changed, because earlier requests share them.
void State::retell_frozen_turn() {
  auto last_results =
      std::find_if(messages_.rbegin(), messages_.rend(),
                   [](const llm::MessagePtr& one) { return !one->results.empty(); });
  ERRAND_ASSERT(messages_.rend() - last_results >= 2);
  auto calling = std::next(last_results);
  Message results = **last_results;
  Message turn = **calling;
  std::string told = "These tool calls were already made, with these results:";
  for (std::size_t i = 0; i < turn.calls.size() && i < results.results.size(); ++i) {
    const ToolResultPart& result = results.results[i];
    append(told, "\n\n", turn.calls[i].name, " ", turn.calls[i].arguments,
           result.ok ? "\nresult: " : "\nerror: ", result.text);
    results.files.insert(results.files.end(), result.files.begin(), result.files.end());
  }
  turn.calls.clear();
  turn.provider_blocks.clear();
  if (turn.text.empty()) turn.text = "(called tools)";
  results.results.clear();
  results.text = std::move(told);
  *last_results = std::make_shared<const Message>(std::move(results));
  *calling = std::make_shared<const Message>(std::move(turn));
}

void State::apply_entry(CallEntry entry) {
  is_just_resumed_ = false;
  if (turn_.calls.empty() && is_own(turn_.index)) ++tool_turns_;
  turn_.text += entry.text;
  conversation_bytes_ += entry.text.size() + entry.arguments.size() + bytes_of(entry.blocks);
  std::move(entry.blocks.begin(), entry.blocks.end(), std::back_inserter(turn_.blocks));
  call_indices_.emplace(entry.id, turn_.calls.size());
  CallState call{.id = std::move(entry.id), .provider_id = std::move(entry.provider_id)};
  call.attempt = is_own(turn_.index) ? ++attempts_[entry.name] : 0;
  call.tool = find_tool(entry.name);
  call.mark = call_mark(entry.name, entry.arguments);
  call.name = std::move(entry.name);
  call.arguments = std::move(entry.arguments);
  turn_.calls.push_back(std::move(call));
}

void State::apply_entry(const NoteEntry& entry) {
  if (CallState* call = call_of(entry.id)) call->note = entry.note;
}

void State::apply_entry(const SampledEntry& entry) {
  is_just_resumed_ = false;
  add_spent(entry.usage, entry.price);
  if (CallState* call = call_of(entry.id)) ++call->samples;
}

void State::apply_entry(const AnswerEntry& entry) {
  is_just_resumed_ = false;
  auto asking = asking_call(entry.id.view());
  if (CallState* call = asking ? call_of(*asking) : nullptr) call->answers.push_back(entry);
}

void State::apply_entry(OutcomeEntry entry) {
  is_just_resumed_ = false;
  CallState* call = call_of(entry.id);
  if (!call) return;
  call->failure_mark = failure_mark(call->name, entry);
  conversation_bytes_ += entry.text.size();
  call->outcome = std::move(entry);
}

void State::apply_entry(TurnEndEntry entry) {
  is_just_resumed_ = false;
  if (is_own(turn_.index)) {
    add_spent(entry.usage, entry.answered_by ? entry.answered_by->price : created_->price);
  }
  conversation_bytes_ += entry.text.size() + bytes_of(entry.blocks);
  turn_.text += std::exchange(entry.text, {});
  for (std::string& block : std::exchange(entry.blocks, {})) {
    turn_.blocks.push_back(std::move(block));
  }
  turn_.end = std::move(entry);
  if (!turn_.calls.empty() && is_own(turn_.index)) batches_.push_back(batch_of(*this));

  Message message;
  message.role = Role::assistant;
  message.text = std::move(turn_.text);
  message.provider_blocks = std::move(turn_.blocks);
  for (const CallState& call : turn_.calls) {
    message.calls.push_back({.id = call.id,
                             .provider_id = call.provider_id,
                             .name = call.name,
                             .arguments = call.arguments});
  }
  last_answer_ = std::make_shared<const Message>(std::move(message));
  messages_.push_back(last_answer_);
}

void State::apply_entry(const CancelEntry& entry) {
  cancel_ = entry;
}

void State::apply_entry(const TerminalEntry& entry) {
  terminal_ = entry;
}

std::shared_ptr<const CreatedEntry> State::large_parts() const {
  std::size_t bytes = created_->spec.tools->text.size();
  for (const Message& message : created_->spec.messages) bytes += message.text.size();
  return bytes > kBytesInABreath ? created_ : nullptr;
}

bool State::has_room_for(std::size_t bytes) const {
  const std::optional<std::size_t>& max = created_->limits.conversation_bytes;
  return !max || conversation_bytes_ + bytes <= *max;
}

std::string_view State::kept_result(std::string_view text) const {
  const std::optional<std::size_t>& max = created_->limits.conversation_bytes;
  if (has_room_for(text.size())) return text;
  // The text must stay longer than the limit, so that the run ends because of it: a cut between
  // characters may be up to three bytes shorter than asked for.
  constexpr std::size_t kBytesTooMany = 4;
  return utf8_prefix(text, *max - std::min(*max, conversation_bytes_) + kBytesTooMany);
}

const CallState* State::find_call(const ToolUseId& id) const {
  auto found = call_indices_.find(id);
  return found == call_indices_.end() ? nullptr : &turn_.calls[found->second];
}

CallState* State::call_of(const ToolUseId& id) {
  auto found = call_indices_.find(id);
  return found == call_indices_.end() ? nullptr : &turn_.calls[found->second];
}

const ToolDecl* State::find_tool(std::string_view name) const {
  const std::vector<ToolDecl>& tools = *tools_;
  auto found = std::find_if(tools.begin(), tools.end(),
                            [&](const ToolDecl& tool) { return tool.name == name; });
  return found == tools.end() ? nullptr : &*found;
}

DispatchOrder State::dispatch_order() const {
  DispatchOrder order;
  for (const CallState& call : turn_.calls) {
    bool parallel = !call.tool || call.tool->annotations.parallel_safe;
    order.add(parallel ? DispatchOrder::Kind::parallel : DispatchOrder::Kind::barrier);
  }
  for (std::size_t i = 0; i < turn_.calls.size(); ++i) {
    if (turn_.calls[i].outcome) order.finished(i);
  }
  return order;
}

int State::turns_left() const {
  int used = tool_turns_;
  for (const CallState& call : turn_.calls) used += call.samples;
  return std::max(0, created_->limits.max_tool_turns - used);
}

bool State::all_calls_finished() const {
  return std::all_of(turn_.calls.begin(), turn_.calls.end(),
                     [](const CallState& call) { return call.outcome.has_value(); });
}

bool State::waits_for_client() const {
  return !all_calls_finished() &&
         std::all_of(turn_.calls.begin(), turn_.calls.end(), [](const CallState& call) {
           return call.outcome || (call.tool && call.tool->site == ToolSite::client);
         });
}

bool State::is_own(int turn) const {
  return !created_->forked_from || turn >= created_->forked_from->turns;
}

const std::string* State::final_text() const {
  if (!terminal_) return nullptr;
  bool was_ended = turn_.end && turn_.end->fatal && turn_.calls.empty();
  bool has_text = terminal_->status == RunStatus::succeeded || was_ended ||
                  terminal_->error_class == kTruncation || terminal_->error_class == kOutputInvalid;
  return has_text ? &last_text() : nullptr;
}

void State::add_spent(const Usage& usage, const Sparse<Pricing>& price) {
  usage_ += usage;
  has_spent_ = true;
  std::optional<double> cost = errand::cost_usd(usage, price);
  if (!cost) cost_usd_.reset();
  if (cost_usd_) *cost_usd_ += *cost;
}

RunTotals State::totals() const {
  constexpr double kShownParts = 1e9;  // of a dollar
  RunTotals totals{.usage = usage_, .turns = asked_, .model = created_->model};
  if (has_spent_ && cost_usd_) {
    totals.cost_usd = std::round(*cost_usd_ * kShownParts) / kShownParts;
  }
  OutputMechanism mechanism = created_->output_mechanism;
  if (turn_.end && turn_.end->answered_by && is_own(turn_.index)) {
    totals.model = turn_.end->answered_by->model;
    totals.model.reasoning_effort = created_->model.reasoning_effort;
    mechanism = turn_.end->answered_by->output_mechanism;
  }
  if (!created_->spec.output_schema) return totals;
  totals.output = {.is_enforced = terminal_ && terminal_->status == RunStatus::succeeded,
                   .mechanism = is_asked_plainly_ ? OutputMechanism::plain : mechanism,
                   .fell_back = is_asked_plainly_};
  return totals;
}

}  // namespace errand::agent

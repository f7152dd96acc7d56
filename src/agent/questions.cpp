// Questions that the servers of calls ask during a call, to the client of the run or to its model.
#include <algorithm>
#include <utility>

#include "agent/agent_run.hpp"
#include "agent/file_bytes.hpp"
#include "agent/turn_files.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "json/write.hpp"
#include "run/question_id.hpp"

namespace errand::agent {
namespace {

// The first run format whose journals have entries for answers to questions.
constexpr int kQuestionsFormat = 3;

constexpr std::string_view kNotNeeded = "The call that asked this is over.";

template <class T>
AnswerPtr<T> settled(Error error) {
  auto pending = std::make_shared<PendingAnswer<T>>();
  pending->settle(std::move(error));
  return pending;
}

std::string digest_of(std::string_view asked) {
  return crypto::to_hex(crypto::sha256(asked));
}

const AnswerEntry* answer_to(const CallState& call, const ToolUseId& question) {
  auto found = std::find_if(call.answers.begin(), call.answers.end(),
                            [&](const AnswerEntry& one) { return one.id == question; });
  return found == call.answers.end() ? nullptr : &*found;
}

std::size_t text_bytes(const ModelQuestion& question) {
  std::size_t bytes = question.system_prompt.size();
  for (const Message& message : question.messages) bytes += message.text.size();
  return bytes;
}

std::size_t file_bytes(const ModelQuestion& question) {
  std::size_t bytes = 0;
  for (const Message& message : question.messages) {
    for (const FilePart& file : message.files) bytes += file.bytes ? file.bytes->size() : 0;
  }
  return bytes;
}

llm::TurnRequest request_for(ModelQuestion question) {
  auto files = std::make_shared<llm::TurnFiles>();
  for (Message& message : question.messages) {
    for (RunBlob& blob : take_bytes(message.files)) files->bytes[blob.hash] = *blob.bytes;
  }
  llm::TurnRequest request{.system_prompt = llm::share_text(std::move(question.system_prompt)),
                           .messages = llm::share_messages(std::move(question.messages)),
                           .output_tokens_max = question.output_tokens_max};
  if (!files->bytes.empty()) request.files = std::move(files);
  return request;
}

// The part of an answer that has arrived.
struct Heard {
  ModelAnswer answer;
  Usage usage;
  Sparse<Pricing> price;
  bool is_over = false;
  std::optional<Error> failure;

  void take(llm::TurnEvent& event) {
    if (auto* delta = std::get_if<llm::TextDelta>(&event)) {
      answer.text += delta->text;
      if (answer.text.size() > kModelAnswerBytesMax) {
        failure = Error(ErrorCode::too_large, "the answer of the model is too long");
      }
    } else if (auto* by = std::get_if<AnsweredBy>(&event)) {
      answer.model = by->model.vendor_model_id;
      price = by->price;
    } else if (auto* finished = std::get_if<llm::Finished>(&event)) {
      answer.finish_reason = std::move(finished->finish_reason);
      usage = finished->usage;
      is_over = true;
    } else if (auto* failed = std::get_if<llm::Failed>(&event)) {
      failure = Error(ErrorCode::unavailable, failed->failure.message);
    }
  }
};

}  // namespace

// Lets one call ask questions.
class AgentRun::Asking final : public CallQuestions {
 public:
  Asking(AgentRun& run, ToolUseId call) : run_(run), call_(call) {}
  AnswerPtr<ModelAnswer> ask_model(ModelQuestion question) override {
    return run_.ask_for_server(call_, std::move(question));
  }
  AnswerPtr<ToolAnswer> ask_client(ClientQuestion question) override {
    return run_.ask_client(call_, std::move(question));
  }

 private:
  AgentRun& run_;
  const ToolUseId call_;
};

std::unique_ptr<CallQuestions> AgentRun::make_questions(const ToolUseId& call) {
  // A version of Errand with an older format, which may own the run after a downgrade, could not
  // read the answers.
  if (state_->created().format < kQuestionsFormat) return nullptr;
  return std::make_unique<Asking>(*this, call);
}

Error AgentRun::call_is_over() {
  return {ErrorCode::cancelled, "the call is over"};
}

bool AgentRun::is_running(const ToolUseId& id) const {
  const CallState* call = state_->find_call(id);
  return call && !call->outcome && calls_.stage_of(id) != Stage::settled && !state_->cancel() &&
         !state_->terminal();
}

// ---- The client ---------------------------------------------------------------------------------

// The digest of the question that was asked under this id, as in AnswerEntry; null if there is
// none.
const std::string* AgentRun::asked_before(const CallState& call, const ToolUseId& id) const {
  if (const AnswerEntry* answer = answer_to(call, id)) return &answer->asked;
  auto open = questions_.find(id);
  return open == questions_.end() ? nullptr : &open->second.asked;
}

// A call that is repeated after a restart finds its earlier questions by their numbers. A question
// that was not asked then gets a number behind them.
AnswerPtr<ToolAnswer> AgentRun::ask_client(const ToolUseId& call, ClientQuestion question) {
  if (!is_running(call)) return settled<ToolAnswer>(call_is_over());
  LocalToolCall offer{.name = std::move(question.name), .args = json::write(question.args)};
  if (offer.args.size() > kClientQuestionBytesMax) {
    return settled<ToolAnswer>(Error(ErrorCode::too_large, "the question is too long")
                                   .limit("bytes", kClientQuestionBytesMax));
  }
  Calls::Call& asking = calls_.at(call);
  const std::string asked = digest_of(to_mail_request(offer));
  const std::string* before = nullptr;
  do {
    offer.id = question_of(call, ++asking.questions);
    if (asking.questions > kClientQuestionsMax || offer.id.empty()) {
      return settled<ToolAnswer>(Error(ErrorCode::rate_limited, "the call asks too often")
                                     .limit("questions", kClientQuestionsMax));
    }
    before = asked_before(*state_->find_call(call), offer.id);
  } while (before && *before != asked);
  auto pending = std::make_shared<PendingAnswer<ToolAnswer>>();
  // The client answered before the restart: the tool gets that answer, and the client is not asked
  // again.
  if (const AnswerEntry* known = answer_to(*state_->find_call(call), offer.id)) {
    pending->settle(
        ToolAnswer{.ok = known->ok, .text = known->text, .timed_out = known->timed_out});
    return pending;
  }
  const bool is_open = before != nullptr;
  questions_[offer.id] = {.call = call, .name = offer.name, .asked = asked, .pending = pending};
  log_->emit(offer);
  if (!is_open) open_question(offer);
  ++asking.unanswered;
  calls_.hold(call);
  if (activity_ == Activity::idle && waits_for_children()) observer_.on_waiting_for_child();
  return pending;
}

void AgentRun::open_question(const LocalToolCall& offer) {
  const milliseconds timeout = state_->created().limits.local_tool_timeout;
  log_->open_mailbox({.run = key_.run,
                      .slot = offer.id.str(),
                      .kind = MailKind::tool_result,
                      .name = offer.name,
                      .request = to_mail_request(offer),
                      .opened_at = around_.clock.now(),
                      .deadline = around_.store.now() + timeout});
  calls_.watch(offer.id, around_.timers.now() + timeout);
}

bool AgentRun::keep_question(const Mailbox& mail) {
  auto call = mail.kind == MailKind::tool_result ? asking_call(mail.slot) : std::nullopt;
  if (!call) return false;
  const ToolUseId id = *ToolUseId::parse(mail.slot);
  questions_[id] = {.call = *call, .name = mail.name, .asked = digest_of(mail.request)};
  if (mail.filled) return true;
  const milliseconds left = std::max(milliseconds(0), mail.deadline - around_.store.now());
  calls_.watch(id, around_.timers.now() + left);
  return true;
}

bool AgentRun::take_answer(const Mailbox& mail) {
  if (mail.kind != MailKind::tool_result || !asking_call(mail.slot)) return false;
  const ToolUseId id = *ToolUseId::parse(mail.slot);
  if (state_->terminal()) return true;
  auto question = questions_.extract(id);
  if (!question) return true;
  auto answer = parse_tool_answer(mail.body);
  record_answer(id, question.mapped(), answer ? std::move(*answer) : ToolAnswer{.ok = false});
  return true;
}

// An answer that no client sent is not shown as a client's.
void AgentRun::record_answer(const ToolUseId& id, const Question& question, ToolAnswer answer) {
  calls_.forget_time(id);
  log_->close_mailbox(id.str());
  if (answer.timed_out) {
    log_->emit(
        ToolResultEvent{.id = id, .name = question.name, .ok = answer.ok, .text = answer.text});
  } else {
    log_->emit(LocalToolResultIn{.id = id,
                                 .name = question.name,
                                 .ok = answer.ok,
                                 .text = answer.text,
                                 .files = answer.files});
  }
  record(AnswerEntry{.id = id,
                     .asked = question.asked,
                     .ok = answer.ok,
                     .text = answer.text,
                     .timed_out = answer.timed_out});
  if (!question.pending) return;
  question.pending->settle(std::move(answer));
  --calls_.at(question.call).unanswered;
  release_time(question.call);
}

void AgentRun::close_questions(const ToolUseId& call) {
  std::vector<ToolUseId> open;
  for (const auto& [id, question] : questions_) {
    if (question.call == call) open.push_back(id);
  }
  for (const ToolUseId& id : open) {
    auto question = questions_.extract(id);
    record_answer(id, question.mapped(),
                  {.ok = false, .text = std::string(kNotNeeded), .timed_out = true});
  }
}

// ---- The model ----------------------------------------------------------------------------------

// Holds the call's time limit while the call waits for the answer, and settles the answer however
// the task ends.
class AgentRun::Sampling final {
 public:
  Sampling(AgentRun& run, ToolUseId of) : call(of), run_(run) {
    ++run_.samplings_;
    run_.calls_.hold(call);
  }
  ~Sampling() {
    --run_.samplings_;
    run_.release_time(call);
    pending->settle(call_is_over());
  }
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

  const ToolUseId call;
  const AnswerPtr<ModelAnswer> pending = std::make_shared<PendingAnswer<ModelAnswer>>();

 private:
  AgentRun& run_;
};

// Each answer counts as a tool turn of the run, like a turn of a child run.
AnswerPtr<ModelAnswer> AgentRun::ask_for_server(const ToolUseId& call, ModelQuestion question) {
  if (!is_running(call)) return settled<ModelAnswer>(call_is_over());
  const bool is_too_large = text_bytes(question) > kModelQuestionBytesMax ||
                            file_bytes(question) > static_cast<std::size_t>(kTurnFileBytesMax);
  if (is_too_large) {
    return settled<ModelAnswer>(Error(ErrorCode::too_large, "the question is too long"));
  }
  if (state_->turns_left() <= samplings_) {
    return settled<ModelAnswer>(
        Error(ErrorCode::rate_limited, "the run has no tool turns left to ask its model with")
            .limit("maxToolTurns", state_->created().limits.max_tool_turns));
  }
  if (!model_ || !around_.lease.allows_effects()) {
    return settled<ModelAnswer>(Error(ErrorCode::unavailable, "the model cannot be asked now"));
  }
  auto sampling = std::make_unique<Sampling>(*this, call);
  AnswerPtr<ModelAnswer> pending = sampling->pending;
  TaskGroup& tasks = tasks_for(*state_->find_call(call)->tool);
  calls_.at(call).samplings.push_back(
      tasks.spawn("run.sample", sample(std::move(sampling), std::move(question))));
  return pending;
}

Task<void> AgentRun::sample(std::unique_ptr<Sampling> sampling, ModelQuestion question) {
  // Like a turn, a server's question needs a connection to the model, and memory for its files.
  Wakeup* bell = nullptr;
  TurnRoom::Place room(
      around_.turns, {.workspace = key_.workspace, .file_bytes = held_bytes(file_bytes(question))},
      bell);
  while (!room.is_in()) {
    WakeupAt waiting(around_.home.executor(), bell);
    co_await waiting.wait();
  }
  ++around_.counters.model_calls;
  ModelCounts& counts = around_.counters.of_model(state_->created().model.id);
  ++counts.calls;
  Heard heard;
  heard.answer.model = state_->created().model.vendor_model_id;
  heard.price = state_->created().price;
  auto stream = model_->ask(request_for(std::move(question)));
  while (!heard.is_over && !heard.failure) {
    std::vector<llm::TurnEvent> events = co_await stream->next();
    for (llm::TurnEvent& event : events) heard.take(event);
  }
  if (heard.failure) {
    ++around_.counters.model_failures;
    ++counts.failures;
    co_return sampling->pending->settle(std::move(*heard.failure));
  }
  around_.counters.tokens += heard.usage;
  counts.tokens += heard.usage;
  if (!is_running(sampling->call)) co_return;
  record(SampledEntry{.id = sampling->call, .usage = heard.usage, .price = heard.price});
  sampling->pending->settle(std::move(heard.answer));
}

void AgentRun::release_time(const ToolUseId& call) {
  const auto left = calls_.release(call);
  if (left && is_running(call)) calls_.watch(call, around_.timers.now() + *left);
}

}  // namespace errand::agent

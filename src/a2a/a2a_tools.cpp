#include "a2a/a2a_tools.hpp"

#include <algorithm>
#include <utility>

#include "a2a/agent_outcome.hpp"
#include "base/base64.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "net/url.hpp"
#include "tool/blot_decls.hpp"

namespace errand::a2a {
namespace {

template <class T>
using Async = ::errand::Task<T>;

constexpr milliseconds kAgentTimeout = std::chrono::hours(1);
constexpr std::size_t kReportBytesMax = 500;
constexpr std::size_t kFilesMax = 20;  // of one message; further ones are left out

std::string key_of(const RemoteAgent& agent, const Principal& who) {
  std::string key = cat(who.workspace.view(), "\n", agent.card_url);
  for (const auto& [name, value] : agent.headers) append(key, "\n", name, ":", value);
  return key;
}

// The member of a call's note that holds the agent's task. A note without it says that the message
// is being sent.
constexpr std::string_view kTaskId = "taskId";

// Follows the agent's task for one call, and cancels the task if the call is given up. If only the
// end of the process cuts the call off, the task is left alone: the next process asks about it.
class CallWatcher final : public TaskWatcher {
 public:
  CallWatcher(std::shared_ptr<Client> client, TaskGroup& cancelling, const ToolContext& context)
      : client_(std::move(client)), cancelling_(cancelling), context_(context) {}
  ~CallWatcher() override {
    const bool is_left = context_.notes && context_.notes->goes_on_later();
    if (!task_.empty() && !is_done_ && !is_left) {
      cancelling_.spawn("a2a.cancel", cancel(std::move(client_), std::move(task_)));
    }
  }
  CallWatcher(const CallWatcher&) = delete;
  CallWatcher& operator=(const CallWatcher&) = delete;

  void sending(Verb verb, const Interface& to) override {
    if (!context_.span) return;
    context_.span->note("a2a.method.name", method_of(verb, to.version));
    context_.span->note("a2a.protocol.version", to.version == Version::v10 ? "1.0" : "0.3");
    if (auto url = net::parse_url(to.url)) {
      context_.span->note("server.address", url->host);
      context_.span->note("server.port", std::int64_t{url->port});
    }
  }

  Async<Result<void>> taken(std::string task_id, std::string context_id) override {
    task_ = task_id;
    if (context_.span) {
      context_.span->note("a2a.task.id", task_id);
      context_.span->note("gen_ai.conversation.id", context_id);
    }
    if (!context_.notes) co_return Result<void>();
    auto kept = co_await context_.notes->keep({{kTaskId, std::move(task_id)}});
    // If the id of a task is too long for a note, the task is followed only by this process.
    const bool is_too_long = !kept && kept.error().code() == ErrorCode::too_large;
    co_return is_too_long ? Result<void>() : kept;
  }
  // The agent took the task during an earlier process.
  void resume(std::string task_id) { task_ = std::move(task_id); }

  void updated(const StreamEvent& event) override {
    const auto* update = std::get_if<StatusUpdate>(&event);
    if (!context_.progress || !update || !update->status.message) return;
    std::string text = text_of(update->status.message->parts);
    if (text.empty()) return;
    context_.progress->report({.message = std::string(utf8_prefix(text, kReportBytesMax))});
  }

  std::string traceparent() const override {
    return context_.who.trace ? to_traceparent(*context_.who.trace) : "";
  }

  // Called when the task is over, or is left to continue.
  void done(const Reply& reply) {
    is_done_ = true;
    const auto* task = std::get_if<Task>(&reply);
    if (context_.span && task) {
      context_.span->note("a2a.task.state", to_text(task->status.state, Version::v03));
    }
  }

 private:
  static Async<void> cancel(std::shared_ptr<Client> client, std::string task) {
    // If an agent cannot cancel, its task runs on unobserved.
    [[maybe_unused]] auto cancelled = co_await client->cancel(std::move(task));
  }

  std::shared_ptr<Client> client_;
  TaskGroup& cancelling_;
  const ToolContext context_;
  std::string task_;
  bool is_done_ = false;
};

// The parts of the message: the call's text, its data and its files.
std::vector<Part> parts_of(const json::Object& arguments) {
  std::vector<Part> parts = {TextPart{std::string(json::text_at(&arguments, "message"))}};
  if (const json::Object* data = json::object_at(&arguments, "data")) {
    parts.emplace_back(DataPart{json::Value(*data)});
  }
  const json::Array* files = json::array_at(&arguments, "files");
  for (std::size_t i = 0; files && i < std::min(files->size(), kFilesMax); ++i) {
    const json::Object* file = (*files)[i].if_object();
    if (!file) continue;
    parts.emplace_back(FilePart{.name = std::string(json::text_at(file, "name")),
                                .mime_type = std::string(json::text_at(file, "mimeType")),
                                .base64 = to_base64(json::text_at(file, "text")),
                                .url = std::string(json::text_at(file, "url"))});
  }
  return parts;
}

class AgentTool final : public Tool {
 public:
  AgentTool(FindClient find, ToolDecl decl, std::string context_id, TaskGroup& cancelling)
      : find_(std::move(find)),
        decl_(std::move(decl)),
        context_id_(std::move(context_id)),
        cancelling_(cancelling) {}

  const ToolDecl& decl() const override { return decl_; }

  Async<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    auto client = co_await find_(context.secrets);
    if (!client) co_return failed_outcome(client.error().describe());
    CallWatcher watcher(*client, cancelling_, context);
    if (context.notes && context.notes->last()) {
      auto outcome = co_await resume(*client, *context.notes->last(), &watcher);
      co_return outcome;
    }
    Message message{.id = cat(call.run.view(), "-", call.id.view()),
                    .parts = parts_of(call.arguments),
                    .context_id = std::string(json::text_at(&call.arguments, "contextId")),
                    .task_id = std::string(json::text_at(&call.arguments, "taskId"))};
    if (message.context_id.empty() && message.task_id.empty()) message.context_id = context_id_;
    if (context.notes) {
      auto kept = co_await context.notes->keep({{"messageId", message.id}});
      if (!kept) co_return failed_outcome("The message was not sent: the call cannot be recorded.");
    }
    auto reply = co_await (*client)->send(std::move(message), &watcher);
    if (!reply) co_return outcome_of(reply.error());
    watcher.done(*reply);
    co_return outcome_of(std::move(*reply));
  }

 private:
  // Asks about the task of a call that a restart cut off. The message is not sent again, even if
  // nobody knows whether it arrived.
  static Async<ToolOutcome> resume(std::shared_ptr<Client> client, json::Object note,
                                   CallWatcher* watcher) {
    std::string task(json::text_at(&note, kTaskId));
    if (task.empty()) {
      co_return outcome_of(
          Error(ErrorCode::outcome_unknown, "a restart cut the call off before a task was named"));
    }
    watcher->resume(task);
    auto end = co_await client->follow(std::move(task), watcher);
    if (!end) co_return outcome_of(end.error());
    Reply reply(std::move(*end));
    watcher->done(reply);
    co_return outcome_of(std::move(reply));
  }

  const FindClient find_;
  const ToolDecl decl_;
  const std::string context_id_;
  TaskGroup& cancelling_;
};

Async<Result<std::shared_ptr<Client>>> same_client(std::shared_ptr<Client> client) {
  co_return client;
}

json::Object text_schema(std::string_view description) {
  return {{"type", "string"}, {"description", description}};
}

}  // namespace

ToolPtr make_agent_tool(FindClient find, ToolDecl decl, std::string context_id,
                        TaskGroup& cancelling) {
  return std::make_shared<AgentTool>(std::move(find), std::move(decl), std::move(context_id),
                                     cancelling);
}

ToolPtr make_agent_tool(std::shared_ptr<Client> client, ToolDecl decl, TaskGroup& cancelling) {
  return make_agent_tool([client = std::move(client)](CallSecrets*) { return same_client(client); },
                         std::move(decl), "", cancelling);
}

ToolDecl agent_decl(std::string name, std::string description, const AgentCard& card) {
  json::Object properties{
      {"message", text_schema("The task for the agent, complete in itself.")},
      {"taskId", text_schema("To answer a task that needs input: its id.")},
      {"contextId", text_schema("To go on with an earlier conversation: its context id.")},
      {"data", {{"type", "object"}, {"description", "Structured data for the agent."}}},
      {"files",
       {{"type", "array"},
        {"maxItems", kFilesMax},
        {"description", "Files for the agent, each with its text or a URL."},
        {"items",
         {{"type", "object"},
          {"properties",
           {{"name", text_schema("The name of the file.")},
            {"mimeType", text_schema("Its type, such as text/csv.")},
            {"text", text_schema("What is in it.")},
            {"url", text_schema("Or where it is.")}}}}}}}};
  json::Object schema{{"type", "object"},
                      {"properties", std::move(properties)},
                      {"required", json::Array{"message"}}};
  ToolDecl decl{.name = std::move(name),
                .title = card.name,
                .description = std::move(description),
                .input_schema = share_schema(std::move(schema))};
  decl.annotations.long_running = true;
  decl.annotations.timeout = kAgentTimeout;
  decl.annotations.resumable = true;
  return decl;
}

A2aTools::A2aTools(ToolsDeps deps) : deps_(deps), cancelling_(deps.home, deps.on_bug) {}

Async<Result<A2aTools::ClientPtr>> A2aTools::client_for(RemoteAgent agent, Principal who,
                                                        CallSecrets* secrets) {
  if (secrets) {
    ERRAND_CO_TRY(agent.headers, co_await secrets->fill(std::move(agent.headers)));
  }
  co_return client_at(agent, who);
}

A2aTools::ClientPtr A2aTools::client_at(const RemoteAgent& agent, const Principal& who) {
  std::string key = key_of(agent, who);
  auto known = std::find_if(clients_.begin(), clients_.end(),
                            [&key](const Known& one) { return one.key == key; });
  if (known != clients_.end()) {
    clients_.splice(clients_.begin(), clients_, known);
    return clients_.front().client;
  }
  AgentAddress address{.card_url = agent.card_url};
  for (const auto& [name, value] : agent.headers) address.headers.push_back({name, value});
  auto client = std::make_shared<Client>(
      ClientDeps{.http = deps_.http, .timers = deps_.timers, .pool = deps_.pool},
      std::move(address));
  clients_.push_front({.key = std::move(key), .client = client});
  if (clients_.size() > kClientsMax) clients_.pop_back();
  return client;
}

Async<Result<std::vector<ToolDecl>>> A2aTools::ask(ToolRef ref, Principal who) {
  const auto* agent = std::get_if<RemoteAgent>(&ref);
  if (!agent) co_return std::vector<ToolDecl>();
  CallSecrets secrets(deps_.secrets, who.workspace);
  ERRAND_CO_TRY(auto client, co_await client_for(*agent, who, &secrets));
  auto asked = co_await client->card();
  if (!asked) {
    co_return Error(asked.error().code(), secrets.blot_out(asked.error().message()));
  }
  const AgentCard& card = *asked;
  std::vector<ToolDecl> decls;
  decls.push_back(agent_decl(agent->name, agent->description.value_or(describe(card)), card));
  blot_out(decls, secrets);
  co_return decls;
}

ToolPtr A2aTools::open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) {
  const auto* agent = std::get_if<RemoteAgent>(&ref);
  if (!agent) return nullptr;
  return make_agent_tool(
      [this, agent = *agent, who](CallSecrets* secrets) { return client_for(agent, who, secrets); },
      binding, agent->context_id.value_or(""), cancelling_);
}

Async<void> A2aTools::stop() {
  return stop_cancelling(&cancelling_, &deps_.timers);
}

// An agent that does not respond must not delay the end of the process for long.
Async<void> stop_cancelling(TaskGroup* cancelling, Timers* timers) {
  TimerGuard late(*timers, timers->now() + kTellTime,
                  [cancelling] { cancelling->cancel(CancelReason::shutdown); });
  co_await cancelling->join();
  co_await cancelling->stop(CancelReason::shutdown);
}

}  // namespace errand::a2a

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <errand/content.hpp>
#include <errand/json.hpp>
#include <errand/local.hpp>
#include <errand/tool.hpp>
#include <errand/toolkit.hpp>

namespace errand::ERRAND_V1 {

// ---- What a run is asked for with ---------------------------------------------------------------

enum class Role : std::uint8_t { system, user, assistant };

// A message of a conversation. Only the last message of the user may have attachments.
struct Message {
  Role role = Role::user;
  std::string text = {};
  std::vector<std::variant<FileContent, LinkContent>> attachments = {};

  bool operator==(const Message&) const = default;
};

// When a model that repeats its calls is nudged, and when it has to answer without tools.
struct LoopDetection {
  bool enabled = true;
  std::optional<int> consecutive_threshold = {};
  std::optional<int> hard_cutoff_threshold = {};
};

// The JSON Schema that the text of the answer must follow. `run<T>` fills it in, or checks the text
// against the one that is there.
struct OutputSchema {
  Json schema = {};
  std::string name = "output";
  bool strict = false;  // fail rather than ask a model that has no support for schemas
};

// Where a run goes on from: the turns that another run has finished, results included.
struct ForkPoint {
  std::string run_id = {};
  std::optional<std::int64_t> seq = {};  // of the other run's log; nothing: its end
};

// What a message does while its session works on an earlier one.
enum class WhenBusy : std::uint8_t { queue, reject, interrupt };

// "off", "low", "medium", "high", or 0 to 100.
using ReasoningLevel = std::variant<std::string, int>;

// A run whose client has not answered a call in time fails, or goes on with a failed result. A
// handler that is slower than its own tool's timeout always has a failed result.
enum class OnToolTimeout : std::uint8_t { fail_run, tell_model };

// A run needs a prompt or messages. Everything else may be left out; a fork takes over the options
// that it leaves out.
struct RunOptions {
  std::string prompt = {};
  std::vector<Message> messages = {};
  std::string system_prompt = {};  // the rules of tools and toolkits are added to it
  std::string model = {};          // empty: the default model
  // A stored agent, by its name or id, that supplies the options that are left out. Empty: none.
  std::string agent = {};
  // Tools that this process answers. Two tools of a name are an error.
  std::vector<Tool> tools = {};
  std::vector<Toolkit> toolkits = {};
  // MCP servers and A2A agents that this process talks to: {calc, errand::local_mcp("npx ...")}.
  // All are asked for their tools at once, before the run begins. A server that does not answer
  // gives the run a tool that says so, and the program a warning in its log.
  std::vector<McpServer> mcp_servers = {};
  std::vector<A2aAgent> a2a_agents = {};
  // Answers the questions that MCP servers ask the user. Empty: the questions are pending calls
  // "mcp_elicitation" of the run, which Runner::answer answers; the questions of a Client's servers
  // are declined.
  AskUser ask_user = {};
  // Tools that the server calls, as the protocol has them: {"kind": "mcp", "name": ..., "url":
  // ...}.
  std::vector<Json> server_tools = {};
  // False: others answer the calls of this process's tools, such as a worker (Client::serve).
  bool answer_calls = true;
  std::optional<ReasoningLevel> reasoning_level = {};
  std::optional<LoopDetection> loop_detection = {};
  std::optional<std::map<std::string, int>> tool_budgets = {};  // calls that each tool may have
  std::optional<OutputSchema> output = {};
  std::map<std::string, std::string> metadata = {};
  std::string name = {};
  std::optional<int> max_tool_turns = {};
  std::chrono::milliseconds tool_timeout{0};  // of calls that a client answers; 0: the server's
  // What happens when a call gets no answer in time. Empty: the run fails.
  std::optional<OnToolTimeout> on_tool_timeout = {};
  std::optional<ForkPoint> fork_of = {};
  // Of a message in a session. Empty: as the session was made.
  std::optional<WhenBusy> when_busy = {};
  // Makes a request that is repeated, also by the next process, give the run that it made before.
  // Empty: a random one, so that retries of this call make one run.
  std::string idempotency_key = {};
  // Other members, as the protocol has them: {"fallbackModelId": "fast"}. They take the place of
  // those above.
  JsonObject more = {};
};

// ---- What comes of it ---------------------------------------------------------------------------

enum class RunStatus : std::uint8_t { queued, running, waiting, succeeded, failed, cancelled };

std::string_view to_string(RunStatus status);

// Tokens of all model calls of a run. `cached` is part of input, `reasoning` of output.
struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t cached_tokens = 0;
  std::int64_t reasoning_tokens = 0;
  std::int64_t output_tokens = 0;

  bool operator==(const Usage&) const = default;
};

// How a run ended.
struct Reply {
  std::string run_id = {};
  std::string text = {};  // what the model said last
  RunStatus status = RunStatus::succeeded;
  std::string error = {};       // why the run failed, for people
  std::string error_kind = {};  // the same as a word: "error_tool_fatal", "rate_limit", ...
  Usage usage = {};
  int turns = 0;
  std::string model = {};       // the id of the model that answered
  bool output_checked = false;  // the text was checked against the output schema, and fits

  bool ok() const { return status == RunStatus::succeeded; }
};

// A reply whose text is JSON of T.
template <class T>
struct TypedReply : Reply {
  T value{};
};

// Thrown by `run`: the run ended, but not well. reason() is "run_failed" or "run_cancelled".
class RunError : public Error {
 public:
  explicit RunError(const Error& error) : Error(error) {}
};

// Thrown by `run<T>`: the run succeeded, but its text is no T, or does not fit the schema of
// RunOptions::output. pointer() leads to what does not fit, and text() is what the model said.
// reason() is "output_invalid".
class OutputError : public Error {
 public:
  explicit OutputError(const Error& error) : Error(error) {}
};

// A call that waits for a client.
struct PendingCall {
  std::string id = {};
  std::string tool = {};
  Json arguments = {};
};

// A run as it stands.
struct RunInfo {
  std::string id = {};
  std::string name = {};
  RunStatus status = RunStatus::queued;
  std::string model = {};
  std::int64_t last_seq = 0;
  std::map<std::string, std::string> metadata = {};
  // Empty in lists.
  std::string error = {};
  std::string text = {};
  std::vector<PendingCall> pending_calls = {};
};

struct RunQuery {
  std::optional<RunStatus> status = {};
  std::map<std::string, std::string> metadata = {};  // every pair must match
  std::size_t limit = 50;
  std::string cursor = {};  // RunPage::next_cursor of the page before
};

struct RunPage {
  std::vector<RunInfo> runs = {};  // the latest first
  std::string next_cursor = {};    // empty: there are no more
};

struct SessionInfo {
  std::string id = {};
  std::string name = {};
  bool active = true;
  std::map<std::string, std::string> metadata = {};
  std::string summary = {};       // how the conversation begins
  std::string last_used_at = {};  // ISO 8601
};

struct SessionPage {
  std::vector<SessionInfo> sessions = {};  // the latest first
  std::string next_cursor = {};            // empty: there are no more
};

struct SessionQuery {
  std::map<std::string, std::string> metadata = {};  // every pair must match
  std::size_t limit = 50;
  std::string cursor = {};
};

struct ModelDescription {
  std::string id = {};
  std::string label = {};
  std::string provider = {};
  std::string vendor_model_id = {};
  std::optional<std::int64_t> context_window_tokens = {};
};

struct ModelList {
  std::vector<ModelDescription> models = {};  // the preferred ones first
  std::string default_id = {};
};

namespace detail {

// The value in a reply's text, if it fits the schema; null: any does. Throws nothing.
Result<Json> output_value(const Reply& reply, const Json* schema);
Error output_error(const Reply& reply, const Error& cause);
Error run_error(const Reply& reply);

}  // namespace detail

}  // namespace errand::ERRAND_V1

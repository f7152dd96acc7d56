#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/sparse.hpp"
#include "json/value.hpp"
#include "run/guard_limits.hpp"
#include "run/message.hpp"
#include "run/output_schema.hpp"
#include "run/tools/room_ref.hpp"
#include "run/tools/tool_set.hpp"

namespace errand {

enum class OnTimeout { fail, go_on };
// What happens when the model calls tools in more turns than it may.
enum class OnTurnsExceeded { fail, finalize };

// Limits a caller sets for one run; what is absent follows the server's limits.
struct Budgets {
  std::optional<milliseconds> local_tool_timeout;
  std::optional<OnTimeout> on_local_tool_timeout;
  std::optional<int> max_tool_turns;
  std::optional<OnTurnsExceeded> on_turns_exceeded;
};

// A caller's own words about a run.
using Metadata = std::vector<std::pair<std::string, std::string>>;

// What a caller asks for. Exactly one of `prompt` and `messages` is given.
struct Spec {
  std::string name;
  std::string model_id;  // as given; empty asks for the default
  std::string system_prompt;
  std::optional<std::string> prompt;
  std::vector<Message> messages;
  ToolSetPtr tools = share_tools({});
  Metadata metadata;
  Budgets budgets;
  std::optional<LoopDetection> loop_detection;
  Sparse<ToolBudgets> tool_budgets;
  // 0 (off) to kReasoningLevelMax; absent leaves it to the model. Thinking is shown only above 0.
  std::optional<int> reasoning_level;
  Sparse<OutputSchema> output_schema;
  // The model that is asked if the first one gives no answer; as given, empty without one.
  std::string fallback_model_id;
  // What the caller is told about members that mean nothing here. Not kept.
  std::vector<std::string> warnings = {};
  // A session keeps every call of its runs whole, and not only those of tools with `retain`.
  bool retains_all = false;
  // The stored agent that carries it out: its id or name as asked; its id once it is resolved, and
  // then with the version that the rest of the spec has taken in. Empty: none.
  std::string agent_id = {};
  std::int64_t agent_version = 0;
  // The room that the run joins, and what it needs there. A spec that is kept has them among its
  // tools instead, as a RoomRef.
  Sparse<RoomPlace> room = {};
  std::vector<RequiredToolkit> required_toolkits = {};
};

// How many patterns of a spec and its tools are left unchecked, as the warnings say.
std::size_t unchecked_patterns(const Spec& spec);

// Limits of what a caller may send; past them: invalid_argument with the pointer.
constexpr std::size_t kToolsMax = 256;
constexpr std::size_t kOfferedToolsMax = 1024;  // as the model sees them
constexpr std::size_t kMessagesMax = 200;
constexpr std::size_t kNameCharsMax = 200;
constexpr std::size_t kAgentIdCharsMax = 64;
constexpr std::size_t kMetadataEntriesMax = 16;
constexpr std::size_t kMetadataKeyCharsMax = 64;
constexpr std::size_t kMetadataValueCharsMax = 256;
constexpr std::size_t kMetadataBytesMax = 4096;

// Among the metadata of a run that another one has called: that run, so that lists find its runs.
// The server's own: callers cannot send it, and it is shown as "parentRunId".
constexpr std::string_view kParentRunKey = "errand.parentRunId";

// The body of POST .../agent-runs. invalid_argument: with the pointer.
Result<Spec> parse_spec(const json::Value& body);
// The same from its text. Tools that are known are not read again.
Result<Spec> parse_spec(std::string_view body, ToolSetCache& known);
// The same shape again: for the journal and for snapshots, or as a caller sends it.
json::Object to_json(const Spec& spec, Origin origin = Origin::journal);
// As the journal keeps it: tools that are kept beside it are named by their hash.
void write(std::string& out, const Spec& spec);
Result<Spec> parse_journaled_spec(const json::Value& value);
json::Object metadata_json(const Spec& spec);
// What lists of runs are filtered by, as the row of a run keeps it: the metadata, and labels of the
// server. A label begins with kLabelBegin, as no key of metadata does.
inline constexpr char kLabelBegin = '@';
inline constexpr std::string_view kAgentLabel = "@agent";  // the id of the run's agent
json::Object labels_json(const Spec& spec);
json::Object metadata_json(const Metadata& metadata);
Metadata parse_metadata(const json::Object* members);  // null has none; labels are left out
json::Object to_json(const Budgets& budgets);

constexpr int kReasoningLevelMax = 100;
// The level that "off", "low", "medium" or "high" stands for.
std::optional<int> reasoning_level(std::string_view word);
// The word by which ends and snapshots name a level.
std::string_view reasoning_effort(int level);

// The conversation the run starts with, and the system prompt with the system's messages after it.
// The messages share the spec.
std::vector<std::shared_ptr<const Message>> opening_messages(std::shared_ptr<const Spec> spec);
std::string whole_system_prompt(const Spec& spec);

}  // namespace errand

#pragma once

#include <optional>
#include <string_view>

#include "a2a/types.hpp"
#include "base/result.hpp"

namespace errand::a2a {

// Error codes of the protocol, beside those of JSON-RPC.
namespace code {
constexpr std::int64_t kTaskNotFound = -32001;
constexpr std::int64_t kTaskNotCancelable = -32002;
constexpr std::int64_t kPushNotSupported = -32003;
constexpr std::int64_t kUnsupportedOperation = -32004;
constexpr std::int64_t kContentTypeNotSupported = -32005;
constexpr std::int64_t kNoExtendedCard = -32007;
constexpr std::int64_t kVersionNotSupported = -32009;
}  // namespace code

// What a request is for. Each version has its own name for it.
enum class Verb : std::uint8_t { send, stream, get, list, cancel, subscribe };
// Empty: the version has no such verb.
std::string_view method_of(Verb verb, Version version);
struct Method {
  Verb verb;
  Version version;
};
std::optional<Method> find_method(std::string_view name);

// Limits of what a peer sends; more is left out.
constexpr std::size_t kPartsMax = 1000;
constexpr std::size_t kArtifactsMax = 1000;

// What is read may be of either version: the shapes tell. invalid_argument: with the pointer.
Result<Message> parse_message(const json::Value& value, std::string_view pointer);
Result<Task> parse_task(const json::Value& value, std::string_view pointer);
// A result of `send`, or of one event of a stream.
Result<StreamEvent> parse_event(const json::Value& result);

json::Object to_json(const Message& message, Version version);
json::Object to_json(const Task& task, Version version);
// A result of `send`.
json::Object send_result(const std::variant<Task, Message>& result, Version version);
// One event of a stream. In 0.3 the last one says that it is.
json::Object event_json(const StreamEvent& event, Version version);

std::string_view to_text(TaskState state, Version version);
TaskState parse_state(std::string_view text);

// The card as a client needs it. `card_url` is where it was found. invalid_argument: not a card, or
// one without an interface that this program can use.
Result<AgentCard> parse_card(const json::Value& value, std::string_view card_url);

}  // namespace errand::a2a

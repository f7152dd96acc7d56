#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"

namespace errand::rpc {

// Names a request among its sender's unanswered requests.
using Id = std::variant<std::int64_t, std::string>;
std::string to_string(const Id& id);  // for messages to people
json::Value to_json(const Id& id);
// Nothing for a value that cannot be an id, null included.
std::optional<Id> parse_id(const json::Value& value);

namespace code {
constexpr std::int64_t kParseError = -32700;
constexpr std::int64_t kInvalidRequest = -32600;
constexpr std::int64_t kMethodNotFound = -32601;
constexpr std::int64_t kInvalidParams = -32602;
constexpr std::int64_t kInternalError = -32603;
constexpr std::int64_t kOverloaded = -32000;  // ours: too many requests at once
}  // namespace code

// What one side tells the other about a request that failed: a value, not an Error of ours.
struct RpcError {
  std::int64_t code = code::kInternalError;
  std::string message;
  std::optional<json::Value> data = {};

  friend bool operator==(const RpcError&, const RpcError&) = default;
};

using Answer = std::variant<json::Value, RpcError>;

struct Request {
  Id id;
  std::string method;
  json::Object params = {};  // empty if there are none

  friend bool operator==(const Request&, const Request&) = default;
};

struct Notification {
  std::string method;
  json::Object params = {};

  friend bool operator==(const Notification&, const Notification&) = default;
};

struct Response {
  std::optional<Id> id;  // nothing: an error about a message whose id could not be read
  Answer answer;

  friend bool operator==(const Response&, const Response&) = default;
};

// What cannot be understood. A request gets `error` as its answer; a response gets none.
struct Malformed {
  enum class Kind : std::uint8_t { request, response };

  Kind kind = Kind::request;
  std::optional<Id> id;  // if at least that can be read
  RpcError error;

  friend bool operator==(const Malformed&, const Malformed&) = default;
};

using Incoming = std::variant<Request, Notification, Response, Malformed>;

enum class Batches : std::uint8_t { refused, accepted };
constexpr std::size_t kBatchMax = 1000;  // messages; a larger batch is malformed

// The messages in one text: a single message, or a batch. Never empty. Params that are an array are
// malformed, because neither MCP nor A2A has any. invalid_argument with the reason "too_complex":
// the text has more than json::kStrangersValuesMax values.
Result<std::vector<Incoming>> read_messages(std::string_view text, Batches batches);

// One line of JSON each.
std::string write(const Request& request);
std::string write(const Notification& notification);
std::string write(const Response& response);

// The id of a response of which only both ends are known: it is nearly always the first or the last
// member. `head` and `tail` are the ends of its text.
std::optional<Id> find_response_id(std::string_view head, std::string_view tail);

}  // namespace errand::rpc

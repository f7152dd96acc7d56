#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.hpp"
#include "room/wire/framing.hpp"

namespace errand::room {

// The error codes of the protocol that this server sends.
enum class RoomCode : std::uint16_t {
  permission_denied = 1001,
  invalid_request = 1002,
  not_found = 1003,
  already_exists = 1004,
  invalid_state = 1006,  // the call was not made
  operation_failed = 1008,
  timeout = 1009,
  unexpected_response = 1100,
  file_not_found = 3001,
  recursive_required = 3002,
  invalid_path = 3004,
  file_exists = 3005,
  queue_not_found = 5001,
  queue_exists = 5002,
};

// What tools take and give: a header, and bytes for some kinds.
struct Content {
  json::Object header;
  std::string bytes = {};
};

enum class ContentKind : std::uint8_t {
  json,
  text,
  file,
  binary,
  link,
  empty,
  error,
  control,
  raw,
  unknown
};
ContentKind kind_of(const json::Object& header);
// "json", "text" ...: as the wire has it.
std::string_view to_string(ContentKind kind);
// Kinds that a tool may declare: all but error, control, raw and unknown.
bool is_declarable(ContentKind kind);

// What a receiver would miss in the header; nothing if it is whole.
std::optional<std::string> flaw_of(const json::Object& header);

bool is_open(const json::Object& header);
bool is_close(const json::Object& header);

Content empty_content();
Content json_content(json::Value value);
Content binary_content(json::Object headers, std::string bytes = {});
Content error_content(RoomCode code, std::string_view text);
Content open_content();
// `status` as of WebSocket close codes; kNormalEnd is the normal end.
inline constexpr int kNormalEnd = 1000;
inline constexpr int kCallerGone = 1001;  // of an input: the caller gives the call up
inline constexpr int kHostGone = 1011;    // of an output: the stream is cut off
Content close_content(int status = kNormalEnd, std::string_view message = "");
std::int64_t close_status(const json::Object& close);

// The arguments of a request. Plain JSON without a type of content is what older callers send.
// They are taken out of the request, because they can be long.
Content take_arguments(json::Object& request, std::string& attachment);

Message to_message(std::uint64_t id, std::string_view type, Content content);

}  // namespace errand::room

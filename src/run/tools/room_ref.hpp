#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "json/fields.hpp"
#include "json/value.hpp"

namespace errand {

// Where a room is that a run joins: a room of the run's workspace by its name, or any other by its
// URL and a token for it.
struct RoomPlace {
  std::string name = {};
  std::string url = {};
  std::string token = {};  // may name secrets or be sealed

  friend bool operator==(const RoomPlace&, const RoomPlace&) = default;
};

// A toolkit of a room that a run cannot go without.
struct RequiredToolkit {
  std::string toolkit;
  std::optional<std::vector<std::string>> tools = {};  // nothing: all of them
  std::string participant_name = {};                   // of the host; empty: whoever offers it
  std::optional<milliseconds> timeout = {};            // how long the run waits for it

  friend bool operator==(const RequiredToolkit&, const RequiredToolkit&) = default;
};

// Bounds of what a caller may ask for; past them: invalid_argument with the pointer.
constexpr std::size_t kRoomNameBytesMax = 63;
constexpr std::size_t kRoomTokenBytesMax = 4U * 1024;  // sealed, twice as much: a header holds it
constexpr std::size_t kRequiredToolkitsMax = 32;
constexpr std::size_t kRequiredToolsMax = 256;     // of one toolkit
constexpr std::size_t kToolkitNameBytesMax = 256;  // of toolkits, tools and participants
constexpr milliseconds kToolkitWait{10'000};       // unless the requirement says otherwise
constexpr milliseconds kToolkitWaitMax{600'000};

// "room" of a run's spec: a name, or {"url", "token"}.
Result<RoomPlace> parse_room(const json::Value& value, std::string_view pointer);
json::Value to_json(const RoomPlace& place);

// "requiredToolkits": [{"toolkit", "tools"?, "participantName"?, "timeoutMs"?}].
Result<std::vector<RequiredToolkit>> parse_required_toolkits(const json::Value& value,
                                                             std::string_view pointer);
json::Array to_json(const std::vector<RequiredToolkit>& required);

}  // namespace errand

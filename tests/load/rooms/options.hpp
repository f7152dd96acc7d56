#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace errand::load {

enum class RoomScenario { idle, calls, broadcast };

struct RoomOptions {
  RoomScenario scenario = RoomScenario::idle;
  std::string url;                  // of the room
  std::vector<std::string> tokens;  // of the participants, in turn
  std::size_t participants = 1;
  std::size_t rounds = 1000;
};

constexpr const char* kRoomUsage =
    "Usage: errand_room_load idle|calls|broadcast --url URL --token TOKEN... [--participants N]\n"
    "                        [--rounds N]\n"
    "\n"
    "Takes part in a room and prints one line of JSON.\n"
    "  idle       N participants join; prints a line, waits for a line on stdin, then leaves\n"
    "  calls      N hosts, and N callers that call one each, one call after the other, so many\n"
    "             rounds\n"
    "  broadcast  N listeners, and somebody who sends them a message, so many rounds\n";

// Of the words after the program's name. invalid_argument: the message says which one is wrong.
Result<RoomOptions> parse_room_options(std::span<const char* const> words);

}  // namespace errand::load

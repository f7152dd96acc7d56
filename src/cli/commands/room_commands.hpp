#pragma once

#include <string>

#include "cli/show/answer_text.hpp"

namespace errand::cli {

// `errand rooms ...`. Each returns the exit code.

int create_room(const AnswerOptions& options, const std::string& name);
int list_rooms(const AnswerOptions& options);
int show_room(const AnswerOptions& options, const std::string& name);

struct RoomTokenOptions {
  std::string room;
  std::string name;  // of the participant
  std::string role = "user";
  std::string api;  // JSON; empty: the server's default
  int hours = 0;    // 0: for ever
};
// Prints only the token, so that the command can be used in $(...).
int make_room_token(const AnswerOptions& options, const RoomTokenOptions& token);

}  // namespace errand::cli

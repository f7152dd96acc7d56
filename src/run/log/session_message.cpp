#include "run/log/session_message.hpp"

#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand {

std::string to_history_entry(const Message& message) {
  return json::write(to_input_json(message, Origin::journal));
}

Result<Message> parse_history_entry(std::string_view body) {
  auto value = json::parse(body);
  if (!value) return Error(ErrorCode::internal, value.error().message());
  auto message = parse_input_message(*value, "", Origin::journal);
  if (!message) return Error(ErrorCode::internal, message.error().describe());
  return message;
}

}  // namespace errand

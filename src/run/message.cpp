#include "run/message.hpp"

#include "json/fields.hpp"

namespace errand {

std::string_view to_string(Role role) {
  switch (role) {
    case Role::system: return "system";
    case Role::user: return "user";
    case Role::assistant: return "assistant";
  }
  return "user";
}

Result<Message> parse_input_message(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  Message message;
  auto role = in.optional_choice("role", {"user", "assistant", "system"});
  if (!role) in.fail("role", "\"role\" is missing: expected \"user\", \"assistant\" or \"system\"");
  message.role = role == 1 ? Role::assistant : role == 2 ? Role::system : Role::user;
  message.text = in.text("content");
  return in.finish(std::move(message));
}

json::Object to_input_json(const Message& message) {
  return {{"role", to_string(message.role)}, {"content", message.text}};
}

}  // namespace errand

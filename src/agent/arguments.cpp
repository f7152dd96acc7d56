#include "agent/arguments.hpp"

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::agent {

Result<json::Object> parse_arguments(std::string_view raw) {
  if (raw.size() > kArgumentsBytesMax) {
    return Error(ErrorCode::invalid_argument,
                 cat("the arguments are longer than ", kArgumentsBytesMax, " bytes"));
  }
  ERRAND_TRY(auto value, json::parse(raw, {.duplicate_keys = json::DuplicateKeys::last_wins}));
  if (!value.is_object()) {
    return Error(ErrorCode::invalid_argument,
                 cat("the arguments must be a JSON object, got ", json::kind_name(value)));
  }
  return std::move(value.get_object());
}

std::string invalid_arguments_text(const Error& error) {
  std::string text;
  json::ObjectWriter(text)
      .field("error", "tool_input_invalid")
      .field("message", error.message())
      .field("pointer", error.pointer())
      .end();
  return text;
}

std::string shown_arguments(const CallState& call) {
  auto arguments = parse_arguments(call.arguments);
  if (!arguments) return "{}";
  std::string text;
  json::write(text, *arguments);
  return text;
}

}  // namespace errand::agent

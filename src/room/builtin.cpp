#include "room/builtin.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/base64.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"

namespace errand::room {
namespace {

constexpr std::array<std::string_view, 16> kBuiltinToolkits = {
    "messaging", "storage", "queues",   "developer", "sync",   "services",   "livekit", "mounts",
    "memory",    "dataset", "datasets", "database",  "sqlite", "containers", "secrets", "room"};

}  // namespace

bool is_builtin_toolkit(std::string_view name) {
  return std::find(kBuiltinToolkits.begin(), kBuiltinToolkits.end(), name) !=
         kBuiltinToolkits.end();
}

Result<SentMessage> parse_sent_message(const Content& arguments) {
  const json::Value* value = arguments.header.if_contains("json");
  if (kind_of(arguments.header) != ContentKind::json || !value) {
    return Error(ErrorCode::invalid_argument, "expected JSON arguments");
  }
  json::Fields in(*value, "");
  SentMessage sent{.to = in.optional_text("to_participant_id").value_or(""),
                   .type = in.text("type")};
  auto message = json::parse(
      in.optional_view("message_json").value_or("{}"),
      {.duplicate_keys = json::DuplicateKeys::last_wins, .values_max = json::kStrangersValuesMax});
  if (message && message->is_object()) {
    sent.message = std::move(message->as_object());
  } else {
    in.fail("message_json", "expected the text of a JSON object");
  }
  if (auto text = in.optional_view("attachment_base64")) {
    auto bytes = from_base64(*text);
    if (!bytes) in.fail("attachment_base64", "expected base64");
    sent.attachment = std::move(bytes).value_or("");
  }
  return in.finish(std::move(sent));
}

}  // namespace errand::room

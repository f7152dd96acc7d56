#include "run/message.hpp"

#include "base/text.hpp"
#include "json/fields.hpp"

namespace errand {
namespace {

Error mistake(std::string message, const std::string& pointer) {
  return Error(ErrorCode::invalid_argument, std::move(message)).pointer(pointer);
}

void parse_files(json::Fields& in, Message& message, Origin origin) {
  const json::Array* items = in.optional_array("attachments");
  if (!items) return;
  std::string pointer = in.pointer_to("attachments");
  auto files = origin == Origin::wire ? parse_attachments(*items, pointer)
                                      : parse_kept_files(*items, pointer);
  if (!files) return in.fail(std::move(files).error());
  message.files = std::move(*files);
}

// Reads the ids of a call, which both the call and its result have.
template <class Part>
json::Object part_json(const Part& part) {
  json::Object out{{"toolUseId", part.id.view()}, {"name", part.name}};
  if (!part.provider_id.empty()) out["providerId"] = part.provider_id;
  return out;
}

template <class Part>
Part parse_part(json::Fields& in) {
  Part part;
  auto id = ToolUseId::parse(in.text("toolUseId"));
  if (id) part.id = *id;
  if (!id) in.fail("toolUseId", "expected the id of a call");
  part.provider_id = in.optional_text("providerId").value_or("");
  part.name = in.text("name");
  return part;
}

Result<ToolCallPart> parse_call(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  auto part = parse_part<ToolCallPart>(in);
  part.arguments = in.text("arguments");
  return in.finish(std::move(part));
}

Result<ToolResultPart> parse_result(const json::Value& value, std::string_view pointer) {
  json::Fields in(value, pointer);
  auto part = parse_part<ToolResultPart>(in);
  part.ok = in.optional_flag("ok").value_or(true);
  part.text = in.text("text");
  return in.finish(std::move(part));
}

template <class Part, class Parse>
void parse_parts(json::Fields& in, std::string_view key, std::vector<Part>& parts, Parse parse) {
  const json::Array* items = in.optional_array(key);
  for (std::size_t i = 0; items && i < items->size(); ++i) {
    auto part = parse((*items)[i], json::child_pointer(in.pointer_to(key), i));
    if (!part) return in.fail(std::move(part).error());
    parts.push_back(std::move(*part));
  }
}

json::Array calls_json(const Message& message) {
  json::Array out;
  for (const ToolCallPart& call : message.calls) {
    json::Object one = part_json(call);
    one["arguments"] = call.arguments;
    out.push_back(std::move(one));
  }
  return out;
}

json::Array results_json(const Message& message) {
  json::Array out;
  for (const ToolResultPart& result : message.results) {
    json::Object one = part_json(result);
    if (!result.ok) one["ok"] = false;
    one["text"] = result.text;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::string_view to_string(Role role) {
  switch (role) {
    case Role::system: return "system";
    case Role::user: return "user";
    case Role::assistant: return "assistant";
  }
  return "user";
}

Result<Message> parse_input_message(const json::Value& value, std::string_view pointer,
                                    Origin origin) {
  json::Fields in(value, pointer);
  Message message;
  auto role = in.optional_choice("role", {"user", "assistant", "system"});
  if (!role) in.fail("role", "\"role\" is missing: expected \"user\", \"assistant\" or \"system\"");
  message.role = role == 1 ? Role::assistant : role == 2 ? Role::system : Role::user;
  message.text = in.text("content");
  parse_files(in, message, origin);
  if (origin == Origin::journal) {
    parse_parts(in, "calls", message.calls, parse_call);
    parse_parts(in, "results", message.results, parse_result);
  }
  return in.finish(std::move(message));
}

json::Object to_input_json(const Message& message, Origin origin) {
  json::Object out{{"role", to_string(message.role)}, {"content", message.text}};
  if (!message.files.empty()) {
    out["attachments"] =
        origin == Origin::wire ? sent_files(message.files) : to_json(message.files);
  }
  if (origin == Origin::wire) return out;
  if (!message.calls.empty()) out["calls"] = calls_json(message);
  if (!message.results.empty()) out["results"] = results_json(message);
  return out;
}

Result<void> check_conversation(const std::vector<Message>& messages, std::string_view pointer) {
  std::size_t last = messages.size();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role != Role::system) last = i;
    if (utf8_length(messages[i].text) <= kMessageCharsMax) continue;
    return mistake(cat("the message has more than ", kMessageCharsMax, " characters"),
                   cat(pointer, "/", i, "/content"))
        .limit("messageChars", static_cast<std::int64_t>(kMessageCharsMax));
  }
  if (last == messages.size()) {
    return mistake("there is no message of the user's to answer", std::string(pointer));
  }
  if (messages[last].role != Role::user) {
    return mistake("the last message that is not the system's has to be the user's",
                   cat(pointer, "/", last, "/role"));
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].files.empty() || i == last) continue;
    return mistake("only the last message of the user has attachments",
                   cat(pointer, "/", i, "/attachments"));
  }
  return {};
}

}  // namespace errand

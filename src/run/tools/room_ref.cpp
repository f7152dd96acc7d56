#include "run/tools/room_ref.hpp"

#include "base/limit_met.hpp"
#include "base/text.hpp"

namespace errand {
namespace {

using json::Fields;

// The prefix of a stored agent's token, see tool/secrets.hpp.
constexpr std::string_view kSealedToken = "errand-sealed:";

std::string read_bounded(Fields& in, std::string_view key, std::size_t bytes_max) {
  std::string text = in.text(key);
  if (in.ok() && text.empty()) in.fail(key, cat("\"", key, "\" is empty"));
  if (text.size() > bytes_max) {
    in.fail(limit_met(cat("\"", key, "\" is longer than ", bytes_max, " bytes"), in.pointer_to(key),
                      cat(key, "Bytes"), bytes_max));
  }
  return text;
}

Error at(std::string_view pointer, std::string message) {
  return Error(ErrorCode::invalid_argument, std::move(message)).pointer(pointer);
}

bool is_room_url(std::string_view url) {
  for (std::string_view scheme : {"wss://", "ws://", "https://", "http://"}) {
    if (url.starts_with(scheme)) return true;
  }
  return false;
}

std::optional<std::vector<std::string>> read_tool_names(Fields& in) {
  const json::Array* tools = in.optional_array("tools");
  if (!tools) return {};
  if (tools->empty() || tools->size() > kRequiredToolsMax) {
    in.fail(limit_met(cat("expected 1 to ", kRequiredToolsMax, " names of tools"),
                      in.pointer_to("tools"), "requiredTools", kRequiredToolsMax));
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tools->size(); ++i) {
    const auto* name = (*tools)[i].if_string();
    if (!name || name->empty() || name->size() > kToolkitNameBytesMax) {
      in.fail(at(json::child_pointer(in.pointer_to("tools"), i), "expected the name of a tool"));
    }
    names.emplace_back(name ? json::view(*name) : "");
  }
  return names;
}

Result<RequiredToolkit> parse_required(const json::Value& value, std::string_view pointer) {
  Fields in(value, pointer);
  RequiredToolkit required;
  required.toolkit = read_bounded(in, "toolkit", kToolkitNameBytesMax);
  required.tools = read_tool_names(in);
  if (in.optional_text("participantName")) {
    required.participant_name = read_bounded(in, "participantName", kToolkitNameBytesMax);
  }
  if (auto millis = in.optional_integer("timeoutMs", 0, kToolkitWaitMax.count())) {
    required.timeout = milliseconds(*millis);
  }
  return in.finish(std::move(required));
}

}  // namespace

Result<RoomPlace> parse_room(const json::Value& value, std::string_view pointer) {
  if (const auto* name = value.if_string()) {
    if (name->empty() || name->size() > kRoomNameBytesMax) {
      return at(pointer, cat("the name of a room has 1 to ", kRoomNameBytesMax, " characters"));
    }
    return RoomPlace{.name = std::string(json::view(*name))};
  }
  if (!value.is_object()) {
    return at(pointer, R"(expected the name of a room, or {"url": ..., "token": ...})");
  }
  Fields in(value, pointer);
  RoomPlace place;
  place.url = read_bounded(in, "url", 2048);
  if (in.ok() && !is_room_url(place.url)) {
    in.fail("url", "expected a URL that begins with wss://, ws://, https:// or http://");
  }
  const bool is_sealed = in.optional_text("token").value_or("").starts_with(kSealedToken);
  place.token = read_bounded(in, "token", is_sealed ? 2 * kRoomTokenBytesMax : kRoomTokenBytesMax);
  return in.finish(std::move(place));
}

json::Value to_json(const RoomPlace& place) {
  if (place.url.empty()) return json::Value(place.name);
  return json::Object{{"url", place.url}, {"token", place.token}};
}

Result<std::vector<RequiredToolkit>> parse_required_toolkits(const json::Value& value,
                                                             std::string_view pointer) {
  const json::Array* list = value.if_array();
  if (!list) return at(pointer, "expected a list of toolkits");
  if (list->size() > kRequiredToolkitsMax) {
    return limit_met(cat("at most ", kRequiredToolkitsMax, " toolkits are allowed"), pointer,
                     "requiredToolkits", kRequiredToolkitsMax);
  }
  std::vector<RequiredToolkit> out;
  for (std::size_t i = 0; i < list->size(); ++i) {
    ERRAND_TRY(auto required, parse_required((*list)[i], json::child_pointer(pointer, i)));
    out.push_back(std::move(required));
  }
  return out;
}

json::Array to_json(const std::vector<RequiredToolkit>& required) {
  json::Array out;
  for (const RequiredToolkit& one : required) {
    json::Object object{{"toolkit", one.toolkit}};
    if (one.tools) {
      json::Array names;
      for (const std::string& name : *one.tools) names.emplace_back(name);
      object["tools"] = std::move(names);
    }
    if (!one.participant_name.empty()) object["participantName"] = one.participant_name;
    if (one.timeout) object["timeoutMs"] = one.timeout->count();
    out.emplace_back(std::move(object));
  }
  return out;
}

}  // namespace errand

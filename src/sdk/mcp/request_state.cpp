#include "sdk/mcp/request_state.hpp"

#include "base/base64.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::sdk {

std::string RequestStates::signature(std::string_view state, std::string_view request) const {
  return crypto::to_hex(crypto::hmac_sha256(key_, cat(state.size(), ":", state, request)));
}

std::string RequestStates::seal(const json::Object& answers, std::string_view request,
                                WallTime now) const {
  json::Object kept{{"answers", answers}, {"at", to_millis(now)}};
  std::string state = to_base64(json::write(kept));
  return cat(state, ".", signature(state, request));
}

Result<json::Object> RequestStates::open(std::string_view state, std::string_view request,
                                         WallTime now) const {
  const Error none(ErrorCode::invalid_argument, "the state is not one that this server gave");
  std::size_t dot = state.rfind('.');
  if (dot == std::string_view::npos) return none;
  std::string_view kept = state.substr(0, dot);
  if (!crypto::equal_in_constant_time(signature(kept, request), state.substr(dot + 1))) return none;
  auto text = from_base64(kept);
  auto value = text ? json::parse(*text) : Result<json::Value>(none);
  const json::Object* members = value ? value->if_object() : nullptr;
  const json::Object* answers = json::object_at(members, "answers");
  const json::Value* at = members ? members->if_contains("at") : nullptr;
  if (!answers || !at || !at->is_int64()) return none;
  if (now > from_millis(at->as_int64()) + kAgeMax) {
    return Error(ErrorCode::invalid_argument, "the state is too old: begin the request again");
  }
  return *answers;
}

}  // namespace errand::sdk

#include "sdk/api/values.hpp"

#include <utility>

#include "json/parse.hpp"

namespace errand::v1::detail {

json::Value to_value(const Json& json) {
  switch (json.kind()) {
    case Json::Kind::null: return nullptr;
    case Json::Kind::boolean: return *json.if_bool();
    case Json::Kind::int64: return *json.to_int64();
    case Json::Kind::uint64: return *json.to_uint64();
    case Json::Kind::number: return *json.to_double();
    case Json::Kind::string: return json::Value(std::string_view(*json.if_string()));
    case Json::Kind::array: {
      json::Array out;
      out.reserve(json.if_array()->size());
      for (const Json& item : *json.if_array()) out.push_back(to_value(item));
      return out;
    }
    case Json::Kind::object: {
      json::Object out;
      out.reserve(json.if_object()->size());
      for (const JsonMember& member : *json.if_object()) {
        out.insert_or_assign(member.name, to_value(member.value));
      }
      return out;
    }
  }
  return nullptr;
}

Json from_value(const json::Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null: return nullptr;
    case boost::json::kind::bool_: return value.get_bool();
    case boost::json::kind::int64: return value.get_int64();
    case boost::json::kind::uint64: return value.get_uint64();
    case boost::json::kind::double_: return value.get_double();
    case boost::json::kind::string: return json::view(value.get_string());
    case boost::json::kind::array: {
      JsonArray out;
      out.reserve(value.get_array().size());
      for (const json::Value& item : value.get_array()) out.push_back(from_value(item));
      return out;
    }
    case boost::json::kind::object: {
      std::vector<JsonMember> members;
      members.reserve(value.get_object().size());
      for (const auto& member : value.get_object()) {
        members.push_back({std::string(member.key()), from_value(member.value())});
      }
      return JsonObject(std::move(members));
    }
  }
  return nullptr;
}

std::optional<Json> json_of_model(std::string_view text) {
  auto value = json::parse(text, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (!value) return {};
  return from_value(*value);
}

}  // namespace errand::v1::detail

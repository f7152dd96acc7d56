#include "engine/access/grant_json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace errand::engine {
namespace {

void add_names(json::Object& out, std::string_view key, const Grant::Names& names) {
  if (!names) return;
  json::Array listed;
  for (const std::string& name : *names) listed.emplace_back(name);
  out[key] = std::move(listed);
}

Grant::Names read_names(json::Fields& in, std::string_view key) {
  const json::Array* items = in.optional_array(key);
  if (!items) return {};
  std::vector<std::string> names;
  for (const json::Value& item : *items) {
    const auto* text = item.if_string();
    if (!text) in.fail(key, "expected strings");
    names.emplace_back(text ? json::view(*text) : "");
  }
  return names;
}

}  // namespace

void add_grant(json::Object& out, const Grant& grant) {
  add_names(out, "scopes", grant.scopes);
  add_names(out, "agents", grant.agents);
}

Grant read_grant(json::Fields& in) {
  return {.scopes = read_names(in, "scopes"), .agents = read_names(in, "agents")};
}

}  // namespace errand::engine

#include "server/a2a/card_json.hpp"

#include <string>

namespace errand::server {
namespace {

json::Object interface_json(std::string_view url, std::string_view version) {
  return {{"url", url}, {"protocolBinding", "JSONRPC"}, {"protocolVersion", version}};
}

// An agent is asked in plain words, so it has one skill, which its description describes.
json::Array skills_json(const OfferedAgent& agent) {
  return {json::Object{{"id", "answer"},
                       {"name", agent.name},
                       {"description", agent.description},
                       {"tags", json::Array{"errand"}}}};
}

// The API keys of the server, as both versions of the protocol describe them.
json::Object security_schemes() {
  return {{"key", json::Object{{"type", "http"},
                               {"scheme", "Bearer"},
                               {"httpAuthSecurityScheme", json::Object{{"scheme", "Bearer"}}}}}};
}

// The types that at least one model takes. All other text types are taken, too.
json::Array input_modes() {
  return {"text/plain",      "text/markdown", "text/csv",   "text/html", "application/json",
          "application/pdf", "image/png",     "image/jpeg", "image/gif", "image/webp"};
}

}  // namespace

json::Object card_json(const OfferedAgent& agent, std::string_view url) {
  return {
      {"name", agent.name},
      {"description", agent.description},
      {"version", std::to_string(agent.version)},
      {"protocolVersion", "0.3.0"},
      {"url", url},
      {"preferredTransport", "JSONRPC"},
      {"supportedInterfaces", json::Array{interface_json(url, "1.0"), interface_json(url, "0.3")}},
      {"capabilities", json::Object{{"streaming", true}, {"pushNotifications", false}}},
      {"defaultInputModes", input_modes()},
      {"defaultOutputModes", json::Array{"text/plain", "application/json"}},
      {"skills", skills_json(agent)},
      {"securitySchemes", security_schemes()},
      {"security", json::Array{json::Object{{"key", json::Array()}}}},
      {"securityRequirements",
       json::Array{json::Object{
           {"schemes", json::Object{{"key", json::Object{{"list", json::Array()}}}}}}}}};
}

}  // namespace errand::server

#include "load/requests.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::load {
namespace {

std::string create_body(const Options& options) {
  std::string body;
  json::ObjectWriter out(body);
  out.field("prompt", "Say something.");
  if (!options.model.empty()) out.field("modelId", options.model);
  if (!options.tool.empty()) {
    std::string tool;
    json::ObjectWriter(tool)
        .field("kind", "local")
        .field("name", options.tool)
        .field("description", "Answers at once.")
        .raw("parameters", R"({"type":"object","properties":{}})")
        .end();
    out.raw("tools", cat("[", tool, "]"));
  }
  if (!options.plugin.empty()) {
    std::string plugin;
    json::ObjectWriter(plugin).field("kind", "mantyx_plugin").field("name", options.plugin).end();
    out.raw("tools", cat("[", plugin, "]"));
  }
  if (!options.mcp.empty()) {
    std::string server;
    json::ObjectWriter(server)
        .field("kind", "mcp")
        .field("name", options.mcp)
        .field("url", cat("config:", options.mcp))
        .end();
    out.raw("tools", cat("[", server, "]"));
  }
  out.end();
  return body;
}

std::string answer_body(std::string_view tool_use) {
  std::string body;
  json::ObjectWriter(body).field("toolUseId", tool_use).field("result", "Here you are.").end();
  return body;
}

}  // namespace

Requests::Requests(const Options& options)
    : workspace_(cat("/api/v1/workspaces/", percent_encode(options.workspace))),
      headers_(
          cat("Host: 127.0.0.1:", options.port, "\r\nAuthorization: Bearer ", options.key, "\r\n")),
      model_(options.model),
      create_(post("/agent-runs", create_body(options))) {}

WireRequest Requests::post(std::string_view path, std::string_view body) const {
  return {.method = net::Method::post,
          .bytes = cat("POST ", workspace_, path, " HTTP/1.1\r\n", headers_,
                       "Content-Type: application/json\r\nContent-Length: ", body.size(),
                       "\r\n\r\n", body)};
}

WireRequest Requests::create_session() const {
  std::string body;
  json::ObjectWriter out(body);
  if (!model_.empty()) out.field("modelId", model_);
  out.end();
  return post("/agent-sessions", body);
}

WireRequest Requests::message(std::string_view session) const {
  return post(cat("/agent-sessions/", session, "/messages"), R"({"prompt":"Say something."})");
}

WireRequest Requests::stream(std::string_view run) const {
  return {.method = net::Method::get,
          .bytes = cat("GET ", workspace_, "/agent-runs/", run, "/stream HTTP/1.1\r\n", headers_,
                       "Accept: text/event-stream\r\n\r\n")};
}

WireRequest Requests::answer(std::string_view run, std::string_view tool_use) const {
  return post(cat("/agent-runs/", run, "/tool-results"), answer_body(tool_use));
}

}  // namespace errand::load

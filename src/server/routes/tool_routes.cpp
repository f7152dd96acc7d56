// Stored tools.
#include <map>
#include <memory>
#include <utility>

#include "base/text.hpp"
#include "engine/schema_work.hpp"
#include "json/fields.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/unknown_members.hpp"
#include "server/api.hpp"
#include "server/openapi/request_members.hpp"
#include "server/request_body.hpp"
#include "server/routes/named_record_routes.hpp"
#include "server/routes/record_answer.hpp"
#include "tool/http/http_tool_def.hpp"

namespace errand::server {
namespace {

Result<json::Object> tool_json(const NamedRecord& tool) {
  json::Object out{{"id", tool.id},
                   {"name", tool.name},
                   {"version", tool.version},
                   {"createdAt", to_iso8601(tool.created_at)},
                   {"updatedAt", to_iso8601(tool.updated_at)}};
  ERRAND_TRY(auto body, json::parse(tool.body));
  for (auto& member : shown_http_tool(body.as_object())) {
    out[member.key()] = std::move(member.value());
  }
  return out;
}

// The tool that a body describes, and the body itself, which is small.
struct ToolBody {
  HttpToolDef tool;
  json::Object body;
};

// A schema that cannot be compiled is reported now instead of in the first run.
Task<Result<ToolBody>> checked_tool(engine::Engine* engine, net::Request* request,
                                    std::string name) {
  auto read = [name](const json::Value& body) -> Result<ToolBody> {
    ERRAND_TRY(auto tool, parse_http_tool(body, name));
    return ToolBody{.tool = std::move(tool), .body = body.get_object()};
  };
  ERRAND_CO_TRY(auto asked, co_await read_json(request, engine->pool(), read));
  auto schema = co_await engine::compile_aside(
      engine->pool(), std::make_shared<json::SchemaCache>(), asked.tool.parameters);
  if (schema) co_return asked;
  std::string place = cat("/parameters", schema.error().pointer());
  co_return std::move(schema).error().pointer(place);
}

Result<json::Object> parse_arguments(const json::Value& body) {
  json::Fields in(body, "");
  refuse_unknown_members(in, body, kToolTestMembers);
  const json::Object* arguments = in.optional_object("arguments");
  return in.finish(arguments ? *arguments : json::Object());
}

// Parses a tool and seals its headers.
Task<Result<NewNamedRecord>> read_tool(engine::Engine* engine, net::Request* request,
                                       WorkspaceSlug workspace, std::string name) {
  ERRAND_CO_TRY(auto asked, co_await checked_tool(engine, request, std::move(name)));
  json::Array parts{asked.body.at("http")};
  engine::SecretVault& vault = engine->records().secrets;
  ERRAND_CO_TRY(auto sealed, co_await vault.seal_headers(workspace, std::move(parts)));
  asked.body["http"] = std::move(sealed.front());
  co_return NewNamedRecord{.name = std::move(asked.tool.name),
                           .body = stored_http_tool(std::move(asked.body))};
}

// Members that only stored tools have, by their names.
using StoredTools = std::map<std::string, json::Object>;

StoredTools stored_tools(const std::vector<NamedRecord>& records) {
  StoredTools out;
  for (const NamedRecord& record : records) {
    auto tool = tool_json(record);
    const json::Object* http = tool ? json::object_at(&*tool, "http") : nullptr;
    if (!http) continue;
    std::string method(json::text_at(http, "method"));
    out[record.name] = {{"id", record.id},
                        {"version", record.version},
                        {"method", method.empty() ? "GET" : method},
                        {"url", json::text_at(http, "url")}};
  }
  return out;
}

json::Object source_json(const ToolOffer& offer) {
  json::Object out{{"source", offer.source}};
  if (!offer.server.empty()) out["server"] = offer.server;
  return out;
}

json::Object offered_json(const std::vector<ToolOffer>& offers, const StoredTools& stored) {
  json::Array tools;
  json::Array unreachable;
  for (const ToolOffer& offer : offers) {
    if (!offer.why_not.empty()) {
      json::Object one = source_json(offer);
      one["error"] = offer.why_not;
      unreachable.push_back(std::move(one));
    }
    for (const ToolPtr& tool : offer.tools) {
      json::Object one = source_json(offer);
      one["name"] = tool->decl().name;
      if (!tool->decl().description.empty()) one["description"] = tool->decl().description;
      if (auto more = stored.find(tool->decl().name);
          more != stored.end() && offer.source == "http") {
        for (const auto& member : more->second) one[member.key()] = member.value();
      }
      tools.push_back(std::move(one));
    }
  }
  return {{"tools", std::move(tools)}, {"unreachable", std::move(unreachable)}};
}

}  // namespace

const NamedKind kToolKind{.noun = "tool",
                          .nouns = "tools",
                          .records = &engine::RecordBooks::tools,
                          .shown = tool_json,
                          .read = read_tool};

Api::Answer Api::list_offered_tools(Principal who, net::Request) {
  constexpr std::size_t kStoredMax = 1000;
  ERRAND_CO_TRY(auto found, co_await engine_.records().tools.list(who.workspace, "", kStoredMax));
  ERRAND_CO_TRY(auto offers, co_await engine_.tool_offers(who));
  co_return json_response(200, json::write(offered_json(offers, stored_tools(found.records))));
}

Api::Answer Api::test_tool(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, "tool"));
  ERRAND_CO_TRY(auto arguments, co_await read_json(&request, engine_.pool(), parse_arguments));
  ERRAND_CO_TRY(auto outcome, co_await engine_.try_tool(who, std::move(id), std::move(arguments)));
  json::Object out{{"ok", outcome.ok()}, {"result", text_of(outcome)}};
  co_return json_response(200, json::write(out));
}

}  // namespace errand::server

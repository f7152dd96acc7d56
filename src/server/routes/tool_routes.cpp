// Stored tools.
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "server/api.hpp"
#include "server/request_body.hpp"
#include "server/routes/named_record_routes.hpp"
#include "server/routes/record_answer.hpp"
#include "tool/http/http_tool_def.hpp"
#include "tool/input_schema.hpp"

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

// A schema that cannot be compiled is told now, and not with the first run.
Result<void> check_schema(const HttpToolDef& tool) {
  json::SchemaCache schemas;
  auto schema = compile_input_schema(schemas, *tool.parameters);
  if (schema) return {};
  std::string place = cat("/parameters", schema.error().pointer());
  return std::move(schema).error().pointer(place);
}

// The headers of a tool are sealed.
Task<Result<NewNamedRecord>> read_tool(engine::SecretVault* vault, WorkspaceSlug workspace,
                                       json::Value body, std::string name) {
  ERRAND_CO_TRY(auto tool, parse_http_tool(body, name));
  ERRAND_CO_CHECK(check_schema(tool));
  json::Object record = std::move(body.get_object());
  json::Array parts{record.at("http")};
  ERRAND_CO_TRY(auto sealed, co_await vault->seal_headers(workspace, std::move(parts)));
  record["http"] = std::move(sealed.front());
  co_return NewNamedRecord{.name = std::move(tool.name),
                           .body = stored_http_tool(std::move(record))};
}

}  // namespace

const NamedKind kToolKind{.noun = "tool",
                          .nouns = "tools",
                          .records = &engine::RecordBooks::tools,
                          .shown = tool_json,
                          .read = read_tool};

Api::Answer Api::test_tool(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, "tool"));
  ERRAND_CO_TRY(auto body, json_body(request));
  json::Fields in(body, "");
  const json::Object* arguments = in.optional_object("arguments");
  ERRAND_CO_CHECK(in.finish());
  ERRAND_CO_TRY(auto outcome, co_await engine_.try_tool(who, std::move(id),
                                                        arguments ? *arguments : json::Object()));
  json::Object out{{"ok", outcome.ok()}, {"result", text_of(outcome)}};
  co_return json_response(200, json::write(out));
}

}  // namespace errand::server

// Stored tools.
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "server/api.hpp"
#include "server/openapi/query.hpp"
#include "server/request_body.hpp"
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

Result<net::Response> tool_response(int status, const NamedRecord& tool) {
  ERRAND_TRY(auto body, tool_json(tool));
  return record_response(status, body, tool.version);
}

Result<json::Array> tools_json(const std::vector<NamedRecord>& tools) {
  json::Array items;
  for (const NamedRecord& tool : tools) {
    ERRAND_TRY(auto item, tool_json(tool));
    items.push_back(std::move(item));
  }
  return items;
}

// The body of a record, with the headers sealed. `vault` outlives the task.
Task<Result<std::string>> sealed_tool(engine::SecretVault* vault, WorkspaceSlug workspace,
                                      json::Object body) {
  json::Array parts{body.at("http")};
  ERRAND_CO_TRY(auto sealed, co_await vault->seal_headers(workspace, std::move(parts)));
  body["http"] = std::move(sealed.front());
  co_return stored_http_tool(std::move(body));
}

// A schema that cannot be compiled is told now, and not with the first run.
Result<void> check_schema(const HttpToolDef& tool) {
  json::SchemaCache schemas;
  auto schema = compile_input_schema(schemas, *tool.parameters);
  if (schema) return {};
  std::string place = cat("/parameters", schema.error().pointer());
  return std::move(schema).error().pointer(place);
}

}  // namespace

Api::Answer Api::create_tool(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto body, json_body(request));
  ERRAND_CO_TRY(auto tool, parse_http_tool(body));
  ERRAND_CO_CHECK(check_schema(tool));
  ERRAND_CO_TRY(auto idempotency, idempotency_of(request));
  ERRAND_CO_TRY(auto stored,
                co_await sealed_tool(&engine_.records().secrets, who.workspace, body.get_object()));
  ERRAND_CO_TRY(auto saved,
                co_await engine_.records().tools.create(who.workspace, std::move(tool.name),
                                                        std::move(stored), std::move(idempotency)));
  co_return tool_response(201, saved.record);
}

Api::Answer Api::list_tools(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto page, page_params(request));
  ERRAND_CO_TRY(auto found, co_await engine_.records().tools.list(
                                who.workspace, std::move(page.after), page.limit));
  ERRAND_CO_TRY(auto items, tools_json(found.records));
  co_return page_response("tools", std::move(items), found.next);
}

Api::Answer Api::get_tool(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, "tool"));
  ERRAND_CO_TRY(auto version, integer_param(request, query::kVersion));
  NamedRecords& tools = engine_.records().tools;
  Result<NamedRecord> tool = Error(ErrorCode::internal, "not read");
  if (version == 0) {
    tool = co_await tools.find(who.workspace, std::move(id));
  } else {
    tool = co_await tools.find_version(who.workspace, std::move(id), version);
  }
  ERRAND_CO_CHECK(tool);
  co_return tool_response(200, *tool);
}

Api::Answer Api::list_tool_versions(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, "tool"));
  ERRAND_CO_TRY(auto versions,
                co_await engine_.records().tools.versions(who.workspace, std::move(id)));
  ERRAND_CO_TRY(auto items, tools_json(versions));
  co_return page_response("versions", std::move(items), "");
}

Api::Answer Api::put_tool(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, "tool"));
  ERRAND_CO_TRY(auto body, json_body(request));
  ERRAND_CO_TRY(auto wanted, precondition_of(request));
  NamedRecords& tools = engine_.records().tools;
  auto known = co_await tools.find(who.workspace, id);
  if (!known && known.error().code() != ErrorCode::not_found) co_return std::move(known).error();
  if (!known && wanted.must_exist) co_return must_exist_error();
  ERRAND_CO_TRY(auto tool, parse_http_tool(body, known ? known->name : id));
  ERRAND_CO_CHECK(check_schema(tool));
  ERRAND_CO_TRY(auto stored,
                co_await sealed_tool(&engine_.records().secrets, who.workspace, body.get_object()));
  ERRAND_CO_TRY(auto saved, co_await tools.put(who.workspace, std::move(id), std::move(tool.name),
                                               std::move(stored), wanted.version));
  co_return tool_response(saved.is_new ? 201 : 200, saved.record);
}

Api::Answer Api::delete_tool(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, "tool"));
  ERRAND_CO_TRY(auto wanted, precondition_of(request));
  ERRAND_CO_CHECK(
      co_await engine_.records().tools.remove(who.workspace, std::move(id), wanted.version));
  co_return json_response(204, {});
}

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

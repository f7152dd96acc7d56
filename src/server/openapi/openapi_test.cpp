#include "server/openapi/openapi.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "engine/records/agents.hpp"
#include "json/write.hpp"
#include "run/tools/tool_kinds.hpp"
#include "run/unknown_members.hpp"
#include "server/openapi/error_codes.hpp"
#include "server/openapi/query.hpp"
#include "server/openapi/request_members.hpp"
#include "server/openapi/schemas.hpp"
#include "tool/http/http_tool_def.hpp"

namespace errand::server::openapi_test {
namespace {

constexpr std::string_view kRefStart = "#/components/schemas/";

// The schemas that a document refers to.
void collect_refs(const json::Value& value, std::set<std::string>& out) {
  if (const json::Array* items = value.if_array()) {
    for (const json::Value& item : *items) collect_refs(item, out);
  }
  const json::Object* members = value.if_object();
  if (!members) return;
  for (const auto& member : *members) {
    collect_refs(member.value(), out);
    if (member.key() != "$ref") continue;
    std::string_view target = json::view(member.value().as_string());
    EXPECT_TRUE(target.starts_with(kRefStart)) << target;
    out.emplace(target.substr(kRefStart.size()));
  }
}

std::set<std::string> keys_of(const json::Object& object) {
  std::set<std::string> out;
  for (const auto& member : object) out.emplace(member.key());
  return out;
}

// The members of an object's schema.
std::set<std::string> properties_of(const json::Object& schemas, std::string_view name) {
  return keys_of(schemas.at(name).at("properties").as_object());
}

std::set<std::string> words_of(KnownMembers known) {
  return {known.begin(), known.end()};
}

// Whether a schema allows no members but those that it names.
bool is_closed(const json::Object& schema) {
  const json::Value* others = schema.if_contains("additionalProperties");
  return others && others->is_bool() && !others->as_bool();
}

std::set<std::string> missing(KnownMembers known, const std::set<std::string>& described) {
  std::set<std::string> out;
  for (std::string_view member : known) {
    if (!described.contains(std::string(member))) out.emplace(member);
  }
  return out;
}

// What a message of a session may say. All other members of a run are the session's.
constexpr auto kMessageMembers = std::to_array<std::string_view>(
    {"budgets", "fallbackModelId", "loopDetection", "messages", "metadata", "modelId",
     "outputSchema", "plan", "prompt", "reasoningLevel", "supervisor", "systemPrompt",
     "toolBudgets", "tools", "whenBusy"});

TEST(OpenApi, EveryMemberThatIsReadIsDescribed) {
  const json::Object schemas = component_schemas();
  using Names = std::set<std::string>;
  EXPECT_EQ(missing(run_members(), properties_of(schemas, "RunRequest")), Names());
  EXPECT_EQ(missing(run_members(), properties_of(schemas, "SessionRequest")),
            (Names{"attachments", "messages", "prompt"}));
  EXPECT_EQ(missing(kMessageMembers, properties_of(schemas, "MessageRequest")), Names());
  EXPECT_EQ(missing(budget_members(), properties_of(schemas, "Budgets")), Names());
  const Names tool = properties_of(schemas, "Tool");
  Names kinds;
  for (const json::Value& kind :
       schemas.at("Tool").at("properties").at("kind").at("enum").as_array()) {
    kinds.emplace(kind.as_string());
  }
  EXPECT_EQ(missing(kToolKinds, kinds), Names());
  for (std::string_view kind : kToolKinds) {
    EXPECT_FALSE(tool_members(kind).empty()) << kind;
    EXPECT_EQ(missing(tool_members(kind), tool), Names()) << kind;
  }
}

// What a body may have, if it may have nothing else.
struct StrictBody {
  std::string_view schema;
  KnownMembers known;
};

TEST(OpenApi, BodiesThatRefuseUnknownMembersAreDescribedAsTheirParsersReadThem) {
  const json::Object schemas = component_schemas();
  const std::vector<StrictBody> bodies = {{"AgentRequest", engine::kAgentMembers},
                                          {"ClaimRequest", kClaimMembers},
                                          {"ExtendRequest", kExtendMembers},
                                          {"ForkRequest", fork_members()},
                                          {"HttpToolCall", kHttpToolRequestMembers},
                                          {"HttpToolRequest", kHttpToolMembers},
                                          {"KeyRequest", kKeyMembers},
                                          {"OAuthClientRequest", kOAuthClientMembers},
                                          {"ProgressReport", kProgressMembers},
                                          {"RoomKeyRequest", kRoomKeyMembers},
                                          {"RoomRequest", kRoomMembers},
                                          {"RoomTokenRequest", kRoomTokenMembers},
                                          {"SecretRequest", kSecretMembers},
                                          {"SecretValue", kSecretMembers},
                                          {"ToolTest", kToolTestMembers},
                                          {"WorkspaceRequest", kWorkspaceMembers}};
  std::set<std::string> compared;
  for (const StrictBody& body : bodies) {
    compared.emplace(body.schema);
    EXPECT_EQ(properties_of(schemas, body.schema), words_of(body.known)) << body.schema;
    EXPECT_TRUE(is_closed(schemas.at(body.schema).as_object())) << body.schema;
  }
  const json::Value& notes = schemas.at("HttpToolRequest").at("properties").at("annotations");
  EXPECT_EQ(keys_of(notes.at("properties").as_object()), words_of(kHttpToolAnnotationMembers));
  EXPECT_TRUE(is_closed(notes.as_object()));
  // The bodies of the protocol, which may have members that this server does not know.
  const std::set<std::string> lenient = {"FeedbackRequest",    "MessageRequest", "RevokeRequest",
                                         "RoomConnectRequest", "RunRequest",     "SessionRequest",
                                         "TokenRequest"};
  for (const auto& schema : schemas) {
    const std::string name(schema.key());
    if (!name.ends_with("Request") || lenient.contains(name)) continue;
    EXPECT_TRUE(compared.contains(name)) << name << " is compared with no parser";
  }
}

RouteInfo cancel_route() {
  return {.method = net::Method::post,
          .path = "/agent-runs/{runId}/cancel",
          .id = "cancelRun",
          .tag = "Runs",
          .scope = "runs:write",
          .summary = "Cancels a run.",
          .query = {query::kWait},
          .answers = {{200, "Done.", "Cancelled"}},
          .errors = {"run_terminal"}};
}

TEST(OpenApi, ARowBecomesAnOperation) {
  std::vector<RouteInfo> routes{cancel_route()};
  json::Object document = openapi_document(routes, "https://errand.example.com");
  const json::Object& operation =
      document.at("paths")
          .at("/api/v1/workspaces/{workspace}/agent-runs/{runId}/cancel")
          .at("post")
          .as_object();
  EXPECT_EQ(operation.at("operationId"), "cancelRun");
  EXPECT_EQ(operation.at("x-scope"), "runs:write");
  std::string parameters;
  for (const json::Value& one : operation.at("parameters").as_array()) {
    parameters += std::string(one.at("name").as_string()) + " ";
  }
  EXPECT_EQ(parameters, "workspace runId wait ");
  std::string statuses;
  for (const auto& one : operation.at("responses").as_object()) {
    statuses += std::string(one.key()) + " ";
  }
  EXPECT_EQ(statuses, "200 400 401 403 404 408 409 429 431 503 ");
  EXPECT_EQ(operation.at("responses").at("409").at("description"), "`run_terminal`");
  EXPECT_EQ(document.at("servers").as_array().at(0).at("url"), "https://errand.example.com");
}

TEST(OpenApi, AnOpenRouteIsOfNoWorkspaceAndNeedsNoCredential) {
  std::vector<RouteInfo> routes{{.method = net::Method::get,
                                 .path = "/healthz",
                                 .id = "getHealth",
                                 .tag = "Server",
                                 .summary = "Alive.",
                                 .answers = {{200, "Alive.", "Health"}},
                                 .access = Access::open}};
  json::Object document = openapi_document(routes, "");
  const json::Value& operation = document.at("paths").at("/healthz").at("get");
  EXPECT_EQ(operation.at("security"), json::Value(json::Array()));
  EXPECT_FALSE(operation.at("responses").as_object().if_contains("401"));
}

TEST(OpenApi, EverySchemaThatIsReferredToExists) {
  json::Object schemas = component_schemas();
  std::set<std::string> wanted;
  collect_refs(json::Value(schemas), wanted);
  for (const std::string& name : wanted) EXPECT_TRUE(schemas.if_contains(name)) << name;
}

TEST(OpenApi, BoundsAreNumbersAndDescriptionsAreText) {
  json::Object schemas = component_schemas();
  EXPECT_EQ(schemas.at("RunRequest").at("properties").at("tools").at("maxItems"), 256);
  std::string text = json::write(json::Value(schemas));
  EXPECT_EQ(text.find("\"="), std::string::npos);
  EXPECT_EQ(text.find("\"description\":["), std::string::npos);
}

TEST(OpenApi, ErrorCodesAreOrderedAndNamedOnce) {
  std::set<std::string_view> names;
  int status = 0;
  for (const ErrorInfo& row : error_codes()) {
    EXPECT_TRUE(names.insert(row.code).second) << row.code;
    EXPECT_LE(status, row.status) << row.code;
    status = row.status;
  }
}

TEST(OpenApi, ParametersHaveTheBoundsOfTheirReaders) {
  EXPECT_EQ(json::write(to_json(query::kWait)),
            R"({"name":"wait","in":"query","description":"How many seconds to wait for a call if )"
            R"(there is none.","schema":{"type":"integer","minimum":0,"maximum":60,"default":0}})");
  EXPECT_EQ(json::write(to_json(query::kCallStatus).at("schema")),
            R"({"type":"string","enum":["pending","claimed"]})");
}

}  // namespace
}  // namespace errand::server::openapi_test

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"
#include "net/http.hpp"
#include "run/tools/tool_ref.hpp"

namespace errand {

// A tool that is one HTTP request. Texts of url, headers, query and body have placeholders.
struct HttpToolDef {
  std::string name;
  std::string description;
  SchemaPtr parameters = share_schema({});
  net::Method method = net::Method::get;
  std::string url;
  Headers headers;
  std::vector<std::pair<std::string, std::string>> query;
  std::optional<json::Value> body;
  std::optional<std::string> result;  // a JSON pointer into the answer; absent: all of it
  ToolAnnotations annotations;
};

constexpr milliseconds kHttpToolTimeoutMax{600'000};
constexpr milliseconds kHttpToolTimeout{30'000};
constexpr std::size_t kHttpToolDescriptionCharsMax = 4000;
constexpr std::size_t kHttpToolPairsMax = 64;           // of headers, and of query parameters
constexpr std::size_t kHttpToolBytesMax = 256U * 1024;  // of a definition

// The members of a definition, of its "http", and of its "annotations". Others are refused. Only
// the server sets the last four of a definition.
inline constexpr auto kHttpToolMembers =
    std::to_array<std::string_view>({"name", "description", "parameters", "http", "annotations",
                                     "timeoutMs", "id", "version", "createdAt", "updatedAt"});
inline constexpr auto kHttpToolRequestMembers =
    std::to_array<std::string_view>({"method", "url", "headers", "query", "body", "result"});
inline constexpr auto kHttpToolAnnotationMembers = std::to_array<std::string_view>(
    {"readOnly", "idempotent", "parallelSafe", "longRunning", "destructive"});

// {"name","description","parameters","http":{"method","url","headers","query","body","result"},
// "annotations","timeoutMs"}. `name` is the tool's if the body has none. Without annotations a GET
// or a HEAD is read-only. invalid_argument: with the pointer.
Result<HttpToolDef> parse_http_tool(const json::Value& body, std::string_view name = "");

// As the model sees it.
ToolDecl decl_of(const HttpToolDef& tool);

// What a request that stores the tool has said, ready to be stored: without the members that only
// answers have.
std::string stored_http_tool(json::Object body);
// The same for an answer: values of headers that may be keys are left out.
json::Object shown_http_tool(json::Object body);

}  // namespace errand

#include "tool/http/http_tool_def.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/limit_met.hpp"
#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/redact.hpp"
#include "json/write.hpp"
#include "net/url.hpp"
#include "run/tools/http_words.hpp"
#include "run/tools/object_schema.hpp"
#include "run/unknown_members.hpp"
#include "tool/http/placeholders.hpp"

namespace errand {
namespace {

using json::Fields;

constexpr std::span kOnlyShown = std::span(kHttpToolMembers).last<4>();

void check_template(Fields& in, std::string_view text, const std::string& pointer) {
  auto parts = parse_template(text);
  if (!parts) in.fail(std::move(parts).error().pointer(pointer));
}

void check_templates(Fields& in, const json::Value& value, const std::string& pointer) {
  if (const auto* text = value.if_string()) check_template(in, json::view(*text), pointer);
  if (const auto* array = value.if_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      check_templates(in, (*array)[i], json::child_pointer(pointer, i));
    }
  }
  if (const auto* object = value.if_object()) {
    for (const auto& member : *object) {
      std::string_view key(member.key().data(), member.key().size());
      check_templates(in, member.value(), json::child_pointer(pointer, key));
    }
  }
}

net::Method read_method(Fields& in) {
  constexpr std::array kMethods = {net::Method::get, net::Method::head,  net::Method::post,
                                   net::Method::put, net::Method::patch, net::Method::delete_};
  auto choice = in.optional_choice("method", {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"});
  return kMethods[choice.value_or(0)];
}

// The tool chooses the host and not the model: otherwise a secret would go wherever the model
// wants.
std::string read_url(Fields& in) {
  std::string url = in.text("url");
  if (!in.ok()) return url;
  check_template(in, url, in.pointer_to("url"));
  const std::size_t scheme = url.find("://");
  if (!is_http_url(url)) {
    in.fail("url", "expected a URL that begins with https:// or http://");
  } else if (url.size() > kRefTextBytesMax) {
    in.fail(limit_met(cat("\"url\" is longer than ", kRefTextBytesMax, " bytes"),
                      in.pointer_to("url"), "urlBytes", kRefTextBytesMax));
  } else {
    std::string_view rest = std::string_view(url).substr(scheme + 3);
    std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
    if (authority.find("{{") != std::string_view::npos) {
      in.fail("url", "placeholders may stand in the path and the query of a URL, not in its host");
    } else if (!net::parse_url(cat(std::string_view(url).substr(0, scheme + 3), authority))) {
      in.fail("url", "this is not a URL");
    }
  }
  return url;
}

// Reads an object whose values are texts with placeholders.
Headers read_pairs(Fields& in, std::string_view key) {
  Headers pairs;
  const json::Object* object = in.optional_object(key);
  if (!object) return pairs;
  if (object->size() > kHttpToolPairsMax) {
    in.fail(limit_met(cat("at most ", kHttpToolPairsMax, " are allowed"), in.pointer_to(key), key,
                      kHttpToolPairsMax));
  }
  for (const auto& member : *object) {
    std::string name(member.key().data(), member.key().size());
    std::string pointer = json::child_pointer(in.pointer_to(key), name);
    const auto* text = member.value().if_string();
    if (!text) {
      in.fail(Error(ErrorCode::invalid_argument, "expected a string").pointer(pointer));
      continue;
    }
    std::string value(json::view(*text));
    if (value == json::kRedacted) {
      in.fail(
          Error(ErrorCode::invalid_argument, "\"[redacted]\" only stands for the value of a header")
              .pointer(pointer)
              .hint("write the value again, or better {{secret:NAME}}"));
    }
    check_template(in, value, pointer);
    pairs.emplace_back(std::move(name), std::move(value));
  }
  return pairs;
}

Headers read_headers(Fields& in) {
  static constexpr auto kOurs = std::to_array<std::string_view>(
      {"host", "content-length", "transfer-encoding", "connection", "idempotency-key"});
  Headers headers = read_pairs(in, "headers");
  for (const auto& [name, value] : headers) {
    std::string pointer = json::child_pointer(in.pointer_to("headers"), name);
    if (!is_header_name(name) || !is_header_value(value)) {
      in.fail(Error(ErrorCode::invalid_argument, "expected a header: a name and a line of text")
                  .pointer(pointer));
    }
    if (std::find(kOurs.begin(), kOurs.end(), to_lower(name)) != kOurs.end()) {
      in.fail(
          Error(ErrorCode::invalid_argument, cat("the server sets the header ", name, " itself"))
              .pointer(pointer));
    }
  }
  return headers;
}

void read_http(Fields& in, const json::Value& value, HttpToolDef& tool) {
  Fields http(value, in.pointer_to("http"));
  refuse_unknown_members(http, value, kHttpToolRequestMembers);
  tool.method = read_method(http);
  tool.url = read_url(http);
  tool.headers = read_headers(http);
  tool.query = read_pairs(http, "query");
  if (const json::Value* body = http.optional_any("body")) {
    check_templates(http, *body, http.pointer_to("body"));
    tool.body = *body;
    if (tool.method == net::Method::get || tool.method == net::Method::head) {
      http.fail("body", "a GET or HEAD request has no body");
    }
  }
  tool.result = http.optional_text("result");
  if (tool.result && !tool.result->empty() && !tool.result->starts_with('/')) {
    http.fail("result", "expected a JSON pointer, such as /data/items");
  }
  if (auto done = http.finish(); !done) in.fail(std::move(done).error());
}

void read_annotations(Fields& in, HttpToolDef& tool) {
  const bool only_reads = tool.method == net::Method::get || tool.method == net::Method::head;
  tool.annotations = {.read_only = only_reads, .idempotent = only_reads};
  tool.annotations.timeout = kHttpToolTimeout;
  if (const json::Value* value = in.optional_any("annotations")) {
    Fields notes(*value, in.pointer_to("annotations"));
    refuse_unknown_members(notes, *value, kHttpToolAnnotationMembers);
    ToolAnnotations& out = tool.annotations;
    out.read_only = notes.optional_flag("readOnly").value_or(out.read_only);
    out.idempotent = notes.optional_flag("idempotent").value_or(out.idempotent);
    out.parallel_safe = notes.optional_flag("parallelSafe").value_or(true);
    out.long_running = notes.optional_flag("longRunning").value_or(false);
    out.destructive = notes.optional_flag("destructive").value_or(false);
    if (auto done = notes.finish(); !done) in.fail(std::move(done).error());
  }
  if (auto millis = in.optional_integer("timeoutMs", 1, kHttpToolTimeoutMax.count())) {
    tool.annotations.timeout = milliseconds(*millis);
  }
}

}  // namespace

Result<HttpToolDef> parse_http_tool(const json::Value& body, std::string_view name) {
  Fields in(body, "");
  HttpToolDef tool;
  tool.name = in.optional_text("name").value_or(std::string(name));
  if (in.ok() && !is_valid_tool_name(tool.name)) {
    in.fail("name", "the name of a tool is 1 to 64 letters, digits and underscores");
  }
  tool.description = in.optional_text("description").value_or("");
  if (utf8_length(tool.description) > kHttpToolDescriptionCharsMax) {
    in.fail(
        limit_met(cat("a description has at most ", kHttpToolDescriptionCharsMax, " characters"),
                  "/description", "descriptionChars", kHttpToolDescriptionCharsMax));
  }
  refuse_unknown_members(in, body, kHttpToolMembers);
  if (const json::Object* parameters = in.optional_object("parameters")) {
    tool.parameters = object_schema(parameters);
    if (!tool.parameters) in.fail("parameters", "expected the JSON Schema of an object");
  } else {
    tool.parameters = arguments_schema(nullptr);
  }
  read_http(in, in.any("http"), tool);
  read_annotations(in, tool);
  if (json::write(body).size() > kHttpToolBytesMax) {
    in.fail(limit_met(cat("a tool has at most ", kHttpToolBytesMax, " bytes"), "", "toolBytes",
                      kHttpToolBytesMax));
  }
  return in.finish(std::move(tool));
}

ToolDecl decl_of(const HttpToolDef& tool) {
  return {.name = tool.name,
          .description = tool.description,
          .input_schema = tool.parameters,
          .site = ToolSite::host,
          .annotations = tool.annotations};
}

std::string stored_http_tool(json::Object body) {
  for (std::string_view word : kOnlyShown) body.stable_erase(word);
  body.stable_erase("name");
  return json::write(body);
}

json::Object shown_http_tool(json::Object body) {
  json::Value* http = body.if_contains("http");
  json::Value* headers =
      http && http->is_object() ? http->get_object().if_contains("headers") : nullptr;
  if (!headers || !headers->is_object()) return body;
  for (auto& header : headers->get_object()) {
    std::string_view name(header.key().data(), header.key().size());
    const auto* text = header.value().if_string();
    if (!text || may_be_secret(name, json::view(*text))) header.value() = json::kRedacted;
  }
  return body;
}

}  // namespace errand

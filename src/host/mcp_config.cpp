#include "host/mcp_config.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "host/config_schema.hpp"
#include "host/settings.hpp"
#include "json/fields.hpp"
#include "mcp/client/offered_features.hpp"
#include "run/tools/http_words.hpp"
#include "run/tools/tool_decl.hpp"

namespace errand::host {
namespace {

using json::Fields;

// The variables of this process that another program needs. Vendor keys are not among them.
constexpr const char* kPassedOn[] = {"HOME",  "LANG", "LOGNAME", "PATH",
                                     "SHELL", "TERM", "TMPDIR",  "USER"};

Error wrong_server(std::string what, std::string_view pointer) {
  return Error(ErrorCode::invalid_argument, std::move(what)).pointer(pointer);
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// An object whose values may be references, such as to an environment variable.
Result<Pairs> parse_pairs(Fields& in, std::string_view key, const net::Environment& environment) {
  Pairs out;
  const json::Object* object = in.optional_object(key);
  if (!object) return out;
  for (const auto& member : *object) {
    std::string pointer = json::child_pointer(in.pointer_to(key), member.key());
    const auto* text = member.value().if_string();
    if (!text) return wrong_server("expected a string", pointer);
    ERRAND_TRY(auto value, resolve_secret(std::string(json::view(*text)), pointer, environment));
    out.emplace_back(member.key(), std::move(value));
  }
  return out;
}

// Whether the value of a program's variable may be a key: judged by the variable's name, or because
// the value is as long as keys are and is not a path.
bool may_be_secret(std::string_view name, std::string_view value) {
  constexpr std::string_view kNames[] = {"key", "token", "secret", "pass", "credential", "auth"};
  constexpr std::size_t kKeyChars = 16;
  constexpr std::size_t kNamedKeyChars = 4;
  const std::string lower = to_lower(name);
  const bool is_named = std::any_of(std::begin(kNames), std::end(kNames), [&](auto word) {
    return lower.find(word) != std::string::npos;
  });
  if (is_named) return value.size() >= kNamedKeyChars;
  return value.size() >= kKeyChars && value.front() != '/';
}

Result<std::vector<std::string>> parse_texts(Fields& in, std::string_view key) {
  std::vector<std::string> out;
  const json::Array* items = in.optional_array(key);
  if (!items) return out;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const auto* text = (*items)[i].if_string();
    if (!text) return wrong_server("expected a string", json::child_pointer(in.pointer_to(key), i));
    out.emplace_back(json::view(*text));
  }
  return out;
}

Result<std::vector<mcp::Root>> parse_roots(Fields& in) {
  ERRAND_TRY(auto folders, parse_texts(in, "roots"));
  std::vector<mcp::Root> out;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::filesystem::path folder(folders[i]);
    if (!folder.is_absolute()) {
      return wrong_server("expected the whole path of a folder",
                          json::child_pointer(in.pointer_to("roots"), i));
    }
    out.push_back(mcp::root_of(folder));
  }
  return out;
}

Result<mcp::ConfiguredServer> parse_server(const json::Value& value, std::string_view pointer,
                                           const net::Environment& environment) {
  ERRAND_CHECK(refuse_unknown(value, pointer, Section::mcp_server));
  Fields in(value, pointer);
  auto url = in.optional_text("url");
  auto command = in.optional_text("command");
  ERRAND_TRY(auto headers, parse_pairs(in, "headers", environment));
  ERRAND_TRY(auto arguments, parse_texts(in, "args"));
  ERRAND_TRY(auto variables, parse_pairs(in, "env", environment));
  ERRAND_TRY(auto roots, parse_roots(in));
  ERRAND_CHECK(in.finish());
  bool has_program = in.optional_any("args") || in.optional_any("env") || command;
  bool has_address = in.optional_any("headers") || url;
  if (has_program == has_address || (!url && !command)) {
    return wrong_server(
        "expected a \"url\" with \"headers\", or a \"command\" with \"args\" and \"env\"", pointer);
  }
  if (url) {
    if (!is_http_url(*url)) {
      return wrong_server("expected a URL that begins with https:// or http://",
                          in.pointer_to("url"));
    }
    mcp::HttpServer server{.url = std::move(*url)};
    for (auto& [name, text] : headers) server.headers.push_back({std::move(name), std::move(text)});
    return mcp::ConfiguredServer{.address = std::move(server), .roots = std::move(roots)};
  }
  if (command->empty()) return wrong_server("expected a program", in.pointer_to("command"));
  mcp::StdioServer server{.command = {std::move(*command)}};
  for (std::string& argument : arguments) server.command.push_back(std::move(argument));
  for (const char* name : kPassedOn) {
    if (auto text = environment(name)) server.environment.push_back(cat(name, "=", *text));
  }
  std::vector<std::string> secrets;
  for (const auto& [name, text] : variables) {
    server.environment.push_back(cat(name, "=", text));
    if (may_be_secret(name, text)) secrets.push_back(text);
  }
  return mcp::ConfiguredServer{
      .address = std::move(server), .roots = std::move(roots), .secrets = std::move(secrets)};
}

}  // namespace

Result<std::map<std::string, mcp::ConfiguredServer>> parse_mcp_servers(
    const json::Object& servers, const net::Environment& environment) {
  std::map<std::string, mcp::ConfiguredServer> out;
  for (const auto& member : servers) {
    std::string name(member.key());
    std::string pointer = json::child_pointer("/mcpServers", name);
    if (!is_valid_tool_name(name)) {
      return wrong_server("a name has 1 to 64 letters, digits and underscores", pointer);
    }
    ERRAND_TRY(auto server, parse_server(member.value(), pointer, environment));
    out.emplace(std::move(name), std::move(server));
  }
  return out;
}

}  // namespace errand::host

// The MCP client as a program, for tests of it with the servers of others.
//
// Usage: mcp_probe URL [KEY]
//        mcp_probe -- COMMAND [ARGUMENT...]
//
// Prints what the server says of itself and its tools, one JSON object a line. Then reads calls
// from standard input, {"tool": NAME, "arguments": {...}} a line, and prints progress and the
// result of each. An error is {"error": CODE, "message": TEXT}.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "async/home.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "mcp/client/client.hpp"
#include "mcp/tool_result.hpp"

extern char** environ;

namespace errand::mcp {
namespace {

void print(const json::Object& line) {
  std::string text;
  json::write(text, line);
  std::cout << text << std::endl;
}

void print_error(const Error& error) {
  print({{"error", to_string(error.code())}, {"message", error.describe()}});
}

// The defaults of a form; nothing if a field has none.
std::optional<json::Object> defaults_of(const json::Object& schema) {
  json::Object out;
  const json::Object* fields = json::object_at(&schema, "properties");
  if (!fields) return {};
  for (const auto& [name, field] : *fields) {
    const json::Object* about = field.if_object();
    const json::Value* value = about ? about->if_contains("default") : nullptr;
    if (!value) return {};
    out[name] = *value;
  }
  return out;
}

// Answers every question of a server with something fixed.
class FixedFeatures final : public ClientFeatures {
 public:
  ClientCapabilities offered() const override {
    return {.roots = true, .sampling = true, .elicitation = true};
  }
  Task<Result<std::vector<Root>>> roots() override {
    co_return std::vector<Root>{{.uri = "file:///tmp", .name = "scratch"}};
  }
  Task<Result<CreateMessageResult>> create_message(CreateMessageParams params) override {
    co_return CreateMessageResult{
        .content = TextContent{cat("sampled from ", params.messages.size(), " message")},
        .model = "fixed"};
  }
  Task<Result<ElicitResult>> elicit(ElicitParams params) override {
    auto content = defaults_of(params.requested_schema);
    if (!content) co_return ElicitResult{.action = ElicitResult::Action::decline};
    co_return ElicitResult{.action = ElicitResult::Action::accept, .content = std::move(*content)};
  }
};

Task<void> call(Client* client, std::string line) {
  auto wanted = json::parse(line);
  const json::Object* from = wanted ? wanted->if_object() : nullptr;
  CallToolParams params{.name = std::string(json::text_at(from, "tool"))};
  if (const json::Object* arguments = json::object_at(from, "arguments")) {
    params.arguments = *arguments;
  }
  CallToolOptions options{.on_progress = [](const rpc::Progress& progress) {
    print({{"progress", progress.progress}});
  }};
  auto result = co_await client->call_tool(std::move(params), std::move(options));
  if (!result) co_return print_error(result.error());
  print(to_json(*result, Era::legacy));
}

Task<void> probe(Client* client) {
  auto info = co_await client->connect();
  if (!info) co_return print_error(info.error());
  print({{"era", info->era == Era::modern ? "modern" : "legacy"},
         {"version", info->protocol_version},
         {"server", info->server.name}});
  auto tools = co_await client->tools();
  if (!tools) co_return print_error(tools.error());
  json::Array names;
  for (const std::string& name : vendor_names("probe", (*tools)->tools)) names.emplace_back(name);
  json::Array notes;
  for (const std::string& note : (*tools)->notes) notes.emplace_back(note);
  print({{"tools", std::move(names)}, {"notes", std::move(notes)}});
  std::string line;
  while (std::getline(std::cin, line)) co_await call(client, line);
}

Task<void> run(Client* client) {
  co_await probe(client);
  co_await client->stop();
}

ServerAddress server_of(int count, char** arguments) {
  std::string_view first = arguments[1];
  if (first != "--") {
    HttpServer server{.url = std::string(first)};
    if (count > 2) server.headers.push_back({"Authorization", cat("Bearer ", arguments[2])});
    return server;
  }
  StdioServer server;
  for (int i = 2; i < count; ++i) server.command.emplace_back(arguments[i]);
  for (char** variable = environ; *variable; ++variable) server.environment.emplace_back(*variable);
  return server;
}

void report_bug(const char* task, const std::string& what) {
  std::cerr << "a bug in " << task << ": " << what << std::endl;
  std::exit(2);
}

}  // namespace
}  // namespace errand::mcp

int main(int count, char** arguments) {
  using namespace errand;
  if (count < 2) return 1;
  asio::io_context io(1);
  Home home(io);
  AsioTimers timers(home);
  net::HttpClient http;
  mcp::FixedFeatures features;
  mcp::Client client(
      {.home = home.executor(), .http = http, .timers = timers, .on_bug = mcp::report_bug},
      {.server = mcp::server_of(count, arguments), .features = &features});
  asio::co_spawn(io, mcp::run(&client), asio::detached);
  io.run();
  return 0;
}

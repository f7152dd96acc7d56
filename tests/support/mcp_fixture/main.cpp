// A small MCP server over standard streams, for tests of our server core with the clients of
// others.

#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "mcp/server/stdio_server_connection.hpp"

namespace errand::mcp {
namespace {

json::Object object_schema(std::initializer_list<std::string_view> strings) {
  json::Object properties;
  for (std::string_view name : strings) properties[name] = json::Object{{"type", "string"}};
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

CallOutcome text(std::string value) {
  return CallToolResult{.content = {TextContent{std::move(value)}}};
}

json::Object name_form() {
  return {{"message", "Your name?"}, {"requestedSchema", object_schema({"name"})}};
}

class Fixture final : public ServerFeatures {
 public:
  ServerOffer offer() const override {
    return {.server = {.name = "fixture", .version = "1.0.0"},
            .instructions = "For tests.",
            .tools = true,
            .prompts = true,
            .resources = true,
            .completions = true,
            .logging = true};
  }

  Task<Result<std::vector<Tool>>> tools() override {
    json::Object length = object_schema({});
    length["properties"].as_object()["length"] = json::Object{{"type", "integer"}};
    co_return std::vector<Tool>{
        {.name = "echo", .description = "Echoes.", .input_schema = object_schema({"text"})},
        {.name = "measure", .input_schema = object_schema({"text"}), .output_schema = length},
        {.name = "steps", .input_schema = object_schema({})},
        {.name = "ask", .input_schema = object_schema({})},
        {.name = "fail", .input_schema = object_schema({})}};
  }

  Task<Result<CallOutcome>> call_tool(ServeToolParams params, ServedCall* call) override {
    std::string given(json::text_at(&params.arguments, "text"));
    if (params.name == "echo") co_return text(given);
    if (params.name == "measure") {
      json::Object structured{{"length", given.size()}};
      co_return CallOutcome(CallToolResult{.content = {TextContent{std::to_string(given.size())}},
                                           .structured_content = json::Value(structured)});
    }
    if (params.name == "steps") {
      for (int i = 1; i <= 3; ++i) {
        call->report({.progress = double(i), .total = 3});
        // paced: the official SDK loses progress that arrives together with the answer.
        asio::steady_timer pause(co_await asio::this_coro::executor, milliseconds(20));
        co_await pause.async_wait(as_result);
      }
      call->log(LogLevel::info, "steps", json::Value("done"));
      co_return text("done");
    }
    if (params.name == "ask") {
      auto asked = co_await ask(std::move(params), call);
      co_return asked;
    }
    if (params.name == "fail") {
      co_return CallOutcome(CallToolResult{.content = {TextContent{"it broke"}}, .is_error = true});
    }
    co_return Error(ErrorCode::not_found, cat("there is no tool ", params.name));
  }

  Task<Result<std::vector<Prompt>>> prompts() override {
    co_return std::vector<Prompt>{{.name = "greet", .arguments = {{.name = "name"}}}};
  }
  Task<Result<PromptOutcome>> get_prompt(GetPromptParams params) override {
    co_return PromptOutcome(GetPromptResult{
        .messages = {
            {.role = "user", .content = TextContent{cat("Hello ", params.arguments["name"])}}}});
  }
  Task<Result<std::vector<Resource>>> resources() override {
    co_return std::vector<Resource>{{.uri = "test://a", .name = "a"}};
  }
  Task<Result<std::vector<ResourceTemplate>>> resource_templates() override {
    co_return std::vector<ResourceTemplate>{};
  }
  Task<Result<std::vector<EmbeddedResource>>> read_resource(std::string uri) override {
    co_return std::vector<EmbeddedResource>{
        {.uri = uri, .mime_type = "text/plain", .body = TextBody{"A"}}};
  }
  Task<Result<Completion>> complete(CompleteParams params) override {
    co_return Completion{.values = {cat(params.value, "da")}};
  }

 private:
  static Task<Result<CallOutcome>> ask(ServeToolParams params, ServedCall* call) {
    if (call->era() == Era::modern) {
      const json::Object* answer = json::object_at(&params.input_responses, "name");
      if (answer) co_return text(cat("the user chose ", json::text_at(answer, "action")));
      co_return CallOutcome(InputRequired{
          .requests = {{"name", {.method = "elicitation/create", .params = name_form()}}}});
    }
    auto answer = co_await call->ask("elicitation/create", name_form());
    if (!answer) co_return text(answer.error().message());
    co_return text(cat("the user chose ", json::text_at(answer->if_object(), "action")));
  }
};

void report_bug(const char* task, const std::string& what) {
  std::cerr << "a bug in " << task << ": " << what << std::endl;
  std::exit(2);
}

Task<void> serve(Fixture* features) {
  auto served = co_await serve_stdio(features, STDIN_FILENO, STDOUT_FILENO, report_bug);
  if (!served) std::cerr << served.error().message() << std::endl;
}

}  // namespace
}  // namespace errand::mcp

int main() {
  using namespace errand;
  asio::io_context io(1);
  mcp::Fixture features;
  asio::co_spawn(io, mcp::serve(&features), [](const std::exception_ptr& thrown) {
    if (thrown) std::rethrow_exception(thrown);
  });
  io.run();
  return 0;
}

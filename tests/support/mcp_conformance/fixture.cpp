#include "fixture.hpp"

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "questions.hpp"

namespace {

using namespace std::literals;
using errand::Content;
using errand::Json;
using errand::ResourceContent;
using errand::TextContent;
using errand::Tool;
using errand::ToolContext;
using errand::ToolResult;
namespace mcp = errand::mcp;

constexpr const char* kDescription = "For the conformance suite.";

// One red pixel, and a WAV file without sound.
constexpr std::string_view kPng =
    "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\xda"
    "c\xfc\xcf\xc0\xf0\x1f\0\x05\x05\x02\0_\xc8\xf1\xd2\0\0\0\0IEND\xae"
    "B`\x82"sv;
constexpr std::string_view kWav =
    "RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0\1\0\x08\0data\0\0\0\0"sv;
constexpr std::chrono::milliseconds kPause{50};

void pause() {
  std::this_thread::sleep_for(kPause);  // paced: the suite wants to see messages one by one
}

Content picture() {
  return errand::ImageContent{.bytes = std::string(kPng), .mime_type = "image/png"};
}

Content resource(std::string uri, std::string type, std::string text) {
  return ResourceContent{
      .uri = std::move(uri), .text = std::move(text), .mime_type = std::move(type)};
}

template <class Handler>
Tool plain(std::string name, Handler handler) {
  return errand::tool(std::move(name), kDescription, std::move(handler));
}

std::vector<Tool> content_tools() {
  using Contents = std::vector<Content>;
  return {
      plain("test_simple_text", [] { return "This is a simple text response for testing."s; }),
      plain("test_image_content", [] { return picture(); }),
      plain("test_audio_content",
            [] {
              return Content(
                  errand::AudioContent{.bytes = std::string(kWav), .mime_type = "audio/wav"});
            }),
      plain("test_embedded_resource",
            [] {
              return resource("test://embedded-resource", "text/plain",
                              "This is an embedded resource content.");
            }),
      plain("test_multiple_content_types",
            [] {
              return Contents{TextContent{"Multiple content types test:"}, picture(),
                              resource("test://mixed-content-resource", "application/json",
                                       R"({"test":"data","value":123})")};
            }),
      plain("test_error_handling",
            [] { return ToolResult::failed("This tool intentionally returns an error"); }),
  };
}

std::string log_lines(ToolContext& context) {
  context.log("Tool execution started");
  pause();
  context.log("Tool processing data");
  pause();
  context.log("Tool execution completed");
  return "The tool has logged.";
}

std::vector<Tool> telling_tools() {
  return {plain("test_tool_with_logging", log_lines), plain("test_logging_tool", log_lines),
          plain("test_tool_with_progress", [](ToolContext& context) {
            for (double done : {0.0, 50.0, 100.0}) {
              context.progress("", done, 100);
              pause();
            }
            return "The tool has reported its progress."s;
          })};
}

// Tools that have their own server replace what it has.
std::vector<Tool> changing_tools(const std::shared_ptr<std::optional<mcp::Server>>& server);

errand::Toolkit all_tools(const std::shared_ptr<std::optional<mcp::Server>>& server) {
  std::vector<Tool> all;
  for (auto&& tools : {content_tools(), telling_tools(), asking_tools(), changing_tools(server)}) {
    all.insert(all.end(), tools.begin(), tools.end());
  }
  return errand::Toolkit(
      {.name = "conformance-fixture", .version = "1.0.0", .tools = std::move(all)});
}

std::vector<mcp::Prompt> prompts() {
  using Messages = std::vector<mcp::PromptMessage>;
  auto said = [](Content first, std::string text) {
    return mcp::PromptResult(
        Messages{{.content = std::move(first)}, {.content = TextContent{std::move(text)}}});
  };
  auto complete = [](const std::string&, const std::string& typed) {
    return std::vector<std::string>{typed + "paris"};
  };
  return {
      {.name = "test_simple_prompt",
       .description = kDescription,
       .get = [](ToolContext&, const auto&) { return "This is a simple prompt for testing."; }},
      {.name = "test_prompt_with_arguments",
       .description = kDescription,
       .arguments = {{.name = "arg1", .description = "First test argument", .required = true},
                     {.name = "arg2", .description = "Second test argument", .required = true}},
       .get =
           [](ToolContext&, const mcp::Arguments& given) {
             return "Prompt with arguments: arg1='" + given.at("arg1") + "', arg2='" +
                    given.at("arg2") + "'";
           },
       .complete = complete},
      {.name = "test_prompt_with_embedded_resource",
       .description = kDescription,
       .arguments = {{.name = "resourceUri", .required = true}},
       .get =
           [said](ToolContext&, const mcp::Arguments& given) {
             return said(resource(given.at("resourceUri"), "text/plain",
                                  "Embedded resource content for testing."),
                         "Please process the embedded resource above.");
           }},
      {.name = "test_prompt_with_image",
       .description = kDescription,
       .get = [said](ToolContext&,
                     const auto&) { return said(picture(), "Please analyze the image above."); }},
      asking_prompt()};
}

std::vector<mcp::Resource> resources() {
  return {
      {.uri = "test://static-text",
       .name = "static-text",
       .description = kDescription,
       .mime_type = "text/plain",
       .read = [](ToolContext&) { return "This is the content of the static text resource."; }},
      {.uri = "test://static-binary",
       .name = "static-binary",
       .description = kDescription,
       .mime_type = "image/png",
       .read = [](ToolContext&) { return ResourceContent{.uri = {}, .bytes = std::string(kPng)}; }},
      {.uri = "test://watched-resource",
       .name = "watched-resource",
       .description = kDescription,
       .mime_type = "text/plain",
       .read = [](ToolContext&) { return "watched"; }}};
}

std::vector<mcp::ResourceTemplate> templates() {
  return {{.uri_template = "test://template/{id}/data",
           .name = "template",
           .description = kDescription,
           .mime_type = "application/json",
           .read = [](ToolContext&, const std::string&, const mcp::Arguments& variables) {
             const std::string& id = variables.at("id");
             return Json::object(
                        {{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}})
                 .dump();
           }}};
}

std::vector<Tool> changing_tools(const std::shared_ptr<std::optional<mcp::Server>>& server) {
  return {plain("test_trigger_tool_change",
                [server] {
                  (*server)->set_toolkits({all_tools(server)});
                  return "The tools have changed."s;
                }),
          plain("test_trigger_prompt_change", [server] {
            (*server)->set_prompts(prompts());
            return "The prompts have changed."s;
          })};
}

}  // namespace

mcp::Server conformance_server() {
  // The tools hold the server that holds them.
  static auto& server = *new auto(std::make_shared<std::optional<mcp::Server>>());
  server->emplace(mcp::ServerOptions{.toolkits = {all_tools(server)},
                                     .prompts = prompts(),
                                     .resources = resources(),
                                     .templates = templates()});
  return **server;
}

// A small MCP server over standard streams, on <errand/mcp.hpp>, for tests with the clients of
// others.

#include <errand/mcp.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using errand::Json;
using errand::Tool;
using errand::ToolContext;
using errand::ToolResult;
namespace mcp = errand::mcp;

struct Text {
  std::string text = "";
};

struct Length {
  std::size_t length;
};

std::string take_steps(ToolContext& context) {
  for (int i = 1; i <= 3; ++i) {
    context.progress("", i, 3);
    std::this_thread::sleep_for(20ms);  // paced: the SDKs lose progress that comes with the answer
  }
  context.log("done");
  return "done";
}

std::string ask(ToolContext& context) {
  constexpr const char* kActions[] = {"accept", "decline", "cancel"};
  mcp::Elicited answer = mcp::Caller::of(context).elicit(
      {.message = "Your name?",
       .schema =
           Json::parse(R"({"type":"object","properties":{"name":{"type":"string"}}})").value()},
      "name");
  return std::string("the user chose ") + kActions[static_cast<int>(answer.action)];
}

mcp::Server fixture() {
  errand::Toolkit tools(
      {.name = "fixture",
       .description = "For tests.",
       .version = "1.0.0",
       .tools = {
           errand::tool("echo", "Echoes.", [](const Text& given) { return given.text; }),
           errand::tool("measure", "", [](const Text& given) { return Length{given.text.size()}; }),
           errand::tool("steps", "", take_steps), errand::tool("ask", "", ask),
           errand::tool("fail", "", [] { return ToolResult::failed("it broke"); })}});
  mcp::Prompt greet{
      .name = "greet",
      .arguments = {{.name = "name"}},
      .get =
          [](ToolContext&, const mcp::Arguments& given) {
            auto name = given.find("name");
            return "Hello " + (name == given.end() ? "" : name->second);
          },
      .complete = [](const std::string&,
                     const std::string& typed) { return std::vector<std::string>{typed + "da"}; }};
  mcp::Resource a{
      .uri = "test://a", .name = "a", .mime_type = "text/plain", .read = [](ToolContext&) {
        return "A";
      }};
  return mcp::Server(mcp::ServerOptions{.toolkits = {tools}, .prompts = {greet}, .resources = {a}});
}

}  // namespace

int main() {
  try {
    fixture().serve_stdio();
  } catch (const errand::Error& error) {
    std::cerr << error.describe() << std::endl;
    return 1;
  }
  return 0;
}

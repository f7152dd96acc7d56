#include "questions.hpp"

#include <map>
#include <string>
#include <utility>

namespace {

using namespace std::literals;
using errand::Json;
using errand::TextContent;
using errand::Tool;
using errand::ToolContext;
using errand::ToolResult;
namespace mcp = errand::mcp;

constexpr const char* kDescription = "For the conformance suite.";

constexpr std::string_view kDefaultsForm = R"({"type":"object","properties":{
  "name":{"type":"string","default":"John Doe"},
  "age":{"type":"integer","default":30},
  "score":{"type":"number","default":95.5},
  "status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
  "verified":{"type":"boolean","default":true}}})";
constexpr std::string_view kEnumsForm = R"({"type":"object","properties":{
  "untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
  "titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},
    {"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
  "legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],
    "enumNames":["Option One","Option Two","Option Three"]},
  "untitledMulti":{"type":"array","items":{"type":"string",
    "enum":["option1","option2","option3"]}},
  "titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},
    {"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}})";
constexpr std::string_view kUserForm = R"({"type":"object","properties":{
  "username":{"type":"string","description":"User's response"},
  "email":{"type":"string","description":"User's email address"}},
  "required":["username","email"]})";

template <class Handler>
Tool plain(std::string name, Handler handler) {
  return errand::tool(std::move(name), kDescription, std::move(handler));
}

mcp::Elicitation form(std::string message, const std::string& member, const std::string& type) {
  Json property = Json::object({{"type", type}});
  return {.message = std::move(message),
          .schema = Json::object({{"type", "object"},
                                  {"properties", Json::object({{member, std::move(property)}})},
                                  {"required", Json::array({member})}})};
}

mcp::Elicitation name_form() {
  return form("What is your name?", "name", "string");
}

mcp::Sampling question(std::string prompt, int tokens) {
  return {.messages = {{.content = TextContent{std::move(prompt)}}}, .max_tokens = tokens};
}

// ---- Clients that are asked while the handler waits ---------------------------------------------

std::string told(std::string_view head, const mcp::Elicited& answer) {
  constexpr const char* kActions[] = {"accept", "decline", "cancel"};
  return std::string(head) + "action=" + kActions[static_cast<int>(answer.action)] +
         ", content=" + (answer.content.is_null() ? "{}" : answer.content.dump());
}

struct SamplingArguments {
  std::string prompt;
};

struct ElicitationArguments {
  std::string message;
};

Tool form_tool(std::string name, std::string_view schema) {
  return plain(std::move(name), [schema](ToolContext& context) {
    return told("Elicitation completed: ",
                mcp::Caller::of(context).elicit(
                    {.message = "Please fill in", .schema = Json::parse(schema).value()}));
  });
}

std::vector<Tool> waiting_tools() {
  return {plain("test_sampling",
                [](ToolContext& context, const SamplingArguments& given) {
                  return "LLM response: " +
                         mcp::Caller::of(context).sample(question(given.prompt, 100)).text;
                }),
          plain("test_elicitation",
                [](ToolContext& context, const ElicitationArguments& given) {
                  return told("User response: ", mcp::Caller::of(context).elicit(
                                                     {.message = given.message,
                                                      .schema = Json::parse(kUserForm).value()}));
                }),
          form_tool("test_elicitation_sep1034_defaults", kDefaultsForm),
          form_tool("test_elicitation_sep1330_enums", kEnumsForm)};
}

// ---- Clients that are asked by an answer --------------------------------------------------------

std::string greet(ToolContext& context) {
  mcp::Elicited answer = mcp::Caller::of(context).elicit(name_form(), "user_name");
  const Json* name = answer.content.find("name");
  return "Hello, " + (name && name->if_string() ? *name->if_string() : "stranger"s) + "!";
}

std::string confirm(ToolContext& context) {
  mcp::Caller::of(context).elicit(form("Please confirm", "ok", "boolean"), "confirm");
  return "state-ok";
}

std::string ask_everything(ToolContext& context) {
  mcp::Caller::of(context).ask({{"user_name", name_form()},
                                {"greeting", question("Generate a greeting", 50)},
                                {"client_roots", mcp::ListRoots{}}});
  return "all inputs are here";
}

std::string ask_twice(ToolContext& context) {
  mcp::Caller client = mcp::Caller::of(context);
  client.elicit(form("Step 1: What is your name?", "name", "string"), "step1");
  client.elicit(form("Step 2: What is your favorite color?", "color", "string"), "step2");
  return "all steps are done";
}

std::string ask_what_is_offered(ToolContext& context) {
  mcp::Caller client = mcp::Caller::of(context);
  std::map<std::string, mcp::Question> questions;
  if (client.can_sample()) questions["sampling"] = question("Say something", 10);
  if (client.can_elicit()) questions["elicitation"] = name_form();
  client.ask(questions);
  return "all inputs are here";
}

std::vector<Tool> round_tools() {
  const std::string head = "test_input_required_result_";
  return {plain(head + "elicitation", greet),
          plain(head + "sampling",
                [](ToolContext& context) {
                  mcp::Caller::of(context).sample(question("What is the capital of France?", 100),
                                                  "capital_question");
                  return "the model has answered"s;
                }),
          plain(head + "list_roots",
                [](ToolContext& context) {
                  mcp::Caller::of(context).roots("client_roots");
                  return "the roots are here"s;
                }),
          plain(head + "request_state", confirm),
          plain(head + "tampered_state", confirm),
          plain(head + "multiple_inputs", ask_everything),
          plain(head + "multi_round", ask_twice),
          plain(head + "capabilities", ask_what_is_offered),
          plain("test_missing_capability",
                [](ToolContext& context) {
                  return mcp::Caller::of(context).sample(question("Hello", 10), "question").text;
                }),
          plain("test_streaming_elicitation", [](ToolContext& context) {
            mcp::Caller::of(context).elicit(name_form(), "name");
            return "the name is here"s;
          })};
}

}  // namespace

std::vector<Tool> asking_tools() {
  std::vector<Tool> all = waiting_tools();
  for (Tool& tool : round_tools()) all.push_back(std::move(tool));
  return all;
}

mcp::Prompt asking_prompt() {
  return {.name = "test_input_required_result_prompt",
          .description = kDescription,
          .get = [](ToolContext& context, const mcp::Arguments&) {
            mcp::Caller::of(context).elicit(
                form("What context should the prompt use?", "context", "string"), "user_context");
            return "The context is here.";
          }};
}

#include "fixture.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::mcp {
namespace {

// One red pixel, and a WAV file without sound.
constexpr std::string_view kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJg"
    "gg==";
constexpr std::string_view kWav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
constexpr milliseconds kPause{50};  // the suite wants to see messages one by one

json::Object object_of(std::string_view text) {
  return json::parse(text)->as_object();
}

CallOutcome text(std::string value) {
  return CallToolResult{.content = {TextContent{std::move(value)}}};
}

CallOutcome content(std::vector<Content> parts) {
  return CallToolResult{.content = std::move(parts)};
}

ImageContent picture() {
  return {.base64 = std::string(kPng), .mime_type = "image/png"};
}

EmbeddedResource resource(std::string uri, std::string type, std::string value) {
  return {.uri = std::move(uri), .mime_type = std::move(type), .body = TextBody{std::move(value)}};
}

json::Object form(std::string_view message, std::string_view schema) {
  return {{"message", message}, {"requestedSchema", object_of(schema)}};
}

InputRequest ask_form(std::string_view message, std::string_view member, std::string_view type) {
  std::string schema = cat(R"({"type":"object","properties":{")", member, R"(":{"type":")", type,
                           R"("}},"required":[")", member, R"("]})");
  return {.method = "elicitation/create", .params = form(message, schema)};
}

json::Object sampling(std::string_view prompt, int tokens) {
  json::Object content{{"type", "text"}, {"text", prompt}};
  json::Object message{{"role", "user"}, {"content", std::move(content)}};
  return {{"messages", json::Array{std::move(message)}}, {"maxTokens", tokens}};
}

InputRequest ask_model(std::string_view prompt, int tokens) {
  return {.method = "sampling/createMessage", .params = sampling(prompt, tokens)};
}

InputRequest ask_roots() {
  return {.method = "roots/list"};
}

// A state that nobody else can make.
std::string sealed(std::string_view state) {
  return cat(state, ".", crypto::to_hex(crypto::sha256(cat("a secret of the fixture:", state))));
}

std::optional<std::string> unsealed(const std::optional<std::string>& given) {
  if (!given) return {};
  std::string state = given->substr(0, given->find('.'));
  if (sealed(state) != *given) return {};
  return state;
}

Error bad_state() {
  return {ErrorCode::invalid_argument, "the state is not one that this server gave"};
}

bool has_answer(const ServeToolParams& params, std::string_view key) {
  return json::object_at(&params.input_responses, key) != nullptr;
}

using Outcome = std::optional<Result<CallOutcome>>;

Result<CallOutcome> multi_round(const ServeToolParams& params) {
  if (!params.request_state) {
    return CallOutcome(InputRequired{
        .requests = {{"step1", ask_form("Step 1: What is your name?", "name", "string")}},
        .state = sealed("1")});
  }
  auto state = unsealed(params.request_state);
  if (!state) return bad_state();
  if (*state == "1" && has_answer(params, "step1")) {
    return CallOutcome(InputRequired{
        .requests = {{"step2",
                      ask_form("Step 2: What is your favorite color?", "color", "string")}},
        .state = sealed("2")});
  }
  return text("all steps are done");
}

Result<CallOutcome> with_state(const ServeToolParams& params) {
  if (!params.request_state) {
    return CallOutcome(
        InputRequired{.requests = {{"confirm", ask_form("Please confirm", "ok", "boolean")}},
                      .state = sealed("confirm")});
  }
  if (!unsealed(params.request_state)) return bad_state();
  return text("state-ok");
}

Result<CallOutcome> several(const ServeToolParams& params) {
  if (!has_answer(params, "user_name") || !has_answer(params, "greeting") ||
      !has_answer(params, "client_roots")) {
    return CallOutcome(
        InputRequired{.requests = {{"user_name", ask_form("What is your name?", "name", "string")},
                                   {"greeting", ask_model("Generate a greeting", 50)},
                                   {"client_roots", ask_roots()}},
                      .state = sealed("several")});
  }
  if (!unsealed(params.request_state)) return bad_state();
  return text("all inputs are here");
}

Result<CallOutcome> by_name(const ServeToolParams& params) {
  const json::Object* answer = json::object_at(&params.input_responses, "user_name");
  std::string_view name = json::text_at(json::object_at(answer, "content"), "name");
  if (!name.empty()) return text(cat("Hello, ", name, "!"));
  return CallOutcome(
      InputRequired{.requests = {{"user_name", ask_form("What is your name?", "name", "string")}}});
}

Result<CallOutcome> capable(const ServedCall& call) {
  InputRequired wanted;
  if (call.client().sampling) wanted.requests["sampling"] = ask_model("Say something", 10);
  if (call.client().elicitation) {
    wanted.requests["elicitation"] = ask_form("What is your name?", "name", "string");
  }
  return CallOutcome(std::move(wanted));
}

// The tools of the modern era that ask for input.
Outcome input_tool(const ServeToolParams& params, const ServedCall& call) {
  constexpr std::string_view kPrefix = "test_input_required_result_";
  if (!params.name.starts_with(kPrefix)) return {};
  std::string_view what = std::string_view(params.name).substr(kPrefix.size());
  if (what == "elicitation") return by_name(params);
  if (what == "sampling") {
    if (has_answer(params, "capital_question")) return text("the model has answered");
    return CallOutcome(InputRequired{
        .requests = {{"capital_question", ask_model("What is the capital of France?", 100)}}});
  }
  if (what == "list_roots") {
    if (has_answer(params, "client_roots")) return text("the roots are here");
    return CallOutcome(InputRequired{.requests = {{"client_roots", ask_roots()}}});
  }
  if (what == "request_state" || what == "tampered_state") return with_state(params);
  if (what == "multiple_inputs") return several(params);
  if (what == "multi_round") return multi_round(params);
  if (what == "capabilities") return capable(call);
  return {};
}

// Tools that answer at once.
Outcome plain_tool(const std::string& name) {
  if (name == "test_simple_text") return text("This is a simple text response for testing.");
  if (name == "test_image_content") return content({picture()});
  if (name == "test_audio_content") {
    return content({AudioContent{.base64 = std::string(kWav), .mime_type = "audio/wav"}});
  }
  if (name == "test_embedded_resource") {
    return content({resource("test://embedded-resource", "text/plain",
                             "This is an embedded resource content.")});
  }
  if (name == "test_multiple_content_types") {
    return content({TextContent{"Multiple content types test:"}, picture(),
                    resource("test://mixed-content-resource", "application/json",
                             R"({"test":"data","value":123})")});
  }
  if (name == "test_error_handling") {
    return CallOutcome(CallToolResult{
        .content = {TextContent{"This tool intentionally returns an error"}}, .is_error = true});
  }
  if (name == "json_schema_2020_12_tool") return text("called");
  return {};
}

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

Task<void> pause() {
  asio::steady_timer timer(co_await asio::this_coro::executor, kPause);
  co_await timer.async_wait(as_result);
}

}  // namespace

ServerOffer ConformanceFixture::offer() const {
  return {.server = {.name = "conformance-fixture", .version = "1.0.0"},
          .tools = true,
          .prompts = true,
          .resources = true,
          .completions = true,
          .logging = true};
}

Task<Result<std::vector<Tool>>> ConformanceFixture::tools() {
  std::vector<Tool> out;
  for (std::string_view name : {"test_simple_text",
                                "test_image_content",
                                "test_audio_content",
                                "test_embedded_resource",
                                "test_multiple_content_types",
                                "test_tool_with_logging",
                                "test_error_handling",
                                "test_tool_with_progress",
                                "test_elicitation_sep1034_defaults",
                                "test_elicitation_sep1330_enums",
                                "test_missing_capability",
                                "test_streaming_elicitation",
                                "test_logging_tool",
                                "test_trigger_tool_change",
                                "test_trigger_prompt_change",
                                "test_input_required_result_elicitation",
                                "test_input_required_result_sampling",
                                "test_input_required_result_list_roots",
                                "test_input_required_result_request_state",
                                "test_input_required_result_multiple_inputs",
                                "test_input_required_result_multi_round",
                                "test_input_required_result_tampered_state",
                                "test_input_required_result_capabilities"}) {
    out.push_back({.name = std::string(name),
                   .description = "For the conformance suite.",
                   .input_schema = {{"type", "object"}}});
  }
  for (auto [name, argument] :
       {std::pair("test_sampling", "prompt"), std::pair("test_elicitation", "message")}) {
    std::string schema = cat(R"({"type":"object","properties":{")", argument,
                             R"(":{"type":"string"}},"required":[")", argument, R"("]})");
    out.push_back({.name = name,
                   .description = "For the conformance suite.",
                   .input_schema = object_of(schema)});
  }
  co_return out;
}

Task<Result<CallOutcome>> ConformanceFixture::call_tool(ServeToolParams params, ServedCall* call) {
  if (auto outcome = plain_tool(params.name)) co_return std::move(*outcome);
  if (auto outcome = input_tool(params, *call)) co_return std::move(*outcome);
  const std::string& name = params.name;
  if (name == "test_sampling") {
    std::string prompt(json::text_at(&params.arguments, "prompt"));
    auto sampled = co_await sample(std::move(prompt), call);
    co_return sampled;
  }
  if (name == "test_elicitation") {
    json::Object asked = form(json::text_at(&params.arguments, "message"), kUserForm);
    auto answer = co_await elicit("User response: ", std::move(asked), call);
    co_return answer;
  }
  if (name == "test_elicitation_sep1034_defaults" || name == "test_elicitation_sep1330_enums") {
    bool has_defaults = name == "test_elicitation_sep1034_defaults";
    json::Object asked = form("Please fill in", has_defaults ? kDefaultsForm : kEnumsForm);
    auto answer = co_await elicit("Elicitation completed: ", std::move(asked), call);
    co_return answer;
  }
  if (name == "test_missing_capability") {
    co_return CallOutcome(InputRequired{.requests = {{"question", ask_model("Hello", 10)}}});
  }
  if (name == "test_streaming_elicitation") {
    co_return CallOutcome(
        InputRequired{.requests = {{"name", ask_form("What is your name?", "name", "string")}}});
  }
  auto outcome = co_await call_slow_tool(name, call);
  co_return outcome;
}

Task<Result<CallOutcome>> ConformanceFixture::call_slow_tool(std::string name, ServedCall* call) {
  if (name == "test_tool_with_logging" || name == "test_logging_tool") {
    call->log(LogLevel::info, "", json::Value("Tool execution started"));
    co_await pause();
    call->log(LogLevel::info, "", json::Value("Tool processing data"));
    co_await pause();
    call->log(LogLevel::info, "", json::Value("Tool execution completed"));
    co_return text("The tool has logged.");
  }
  if (name == "test_tool_with_progress") {
    for (double done : {0.0, 50.0, 100.0}) {
      call->report({.progress = done, .total = 100});
      co_await pause();
    }
    co_return text("The tool has reported its progress.");
  }
  if (name == "test_trigger_tool_change") {
    endpoint_.announce_change(ListKind::tools, "");
    co_return text("The tools have changed.");
  }
  if (name == "test_trigger_prompt_change") {
    endpoint_.announce_change(ListKind::prompts, "");
    co_return text("The prompts have changed.");
  }
  co_return Error(ErrorCode::not_found, cat("there is no tool ", name));
}

Task<Result<CallOutcome>> ConformanceFixture::sample(std::string prompt, ServedCall* call) {
  auto answer = co_await call->ask("sampling/createMessage", sampling(prompt, 100));
  if (!answer) {
    co_return CallOutcome(
        CallToolResult{.content = {TextContent{answer.error().message()}}, .is_error = true});
  }
  const json::Object* said = json::object_at(answer->if_object(), "content");
  co_return text(cat("LLM response: ", json::text_at(said, "text")));
}

Task<Result<CallOutcome>> ConformanceFixture::elicit(std::string head, json::Object params,
                                                     ServedCall* call) {
  auto answer = co_await call->ask("elicitation/create", std::move(params));
  if (!answer) {
    co_return CallOutcome(
        CallToolResult{.content = {TextContent{answer.error().message()}}, .is_error = true});
  }
  const json::Object* said = answer->if_object();
  const json::Object* given = json::object_at(said, "content");
  co_return text(cat(head, "action=", json::text_at(said, "action"),
                     ", content=", given ? json::write(*given) : "{}"));
}

Task<Result<std::vector<Prompt>>> ConformanceFixture::prompts() {
  const std::string description = "For the conformance suite.";
  co_return std::vector<Prompt>{
      {.name = "test_simple_prompt", .description = description},
      {.name = "test_prompt_with_arguments",
       .description = description,
       .arguments = {{.name = "arg1", .description = "First test argument", .is_required = true},
                     {.name = "arg2", .description = "Second test argument", .is_required = true}}},
      {.name = "test_prompt_with_embedded_resource",
       .description = description,
       .arguments = {{.name = "resourceUri", .is_required = true}}},
      {.name = "test_prompt_with_image", .description = description},
      {.name = "test_input_required_result_prompt", .description = description}};
}

Task<Result<PromptOutcome>> ConformanceFixture::get_prompt(GetPromptParams params) {
  auto said = [](std::vector<Content> parts) {
    GetPromptResult result;
    for (Content& part : parts) {
      result.messages.push_back({.role = "user", .content = std::move(part)});
    }
    return PromptOutcome(std::move(result));
  };
  if (params.name == "test_simple_prompt") {
    co_return said({TextContent{"This is a simple prompt for testing."}});
  }
  if (params.name == "test_prompt_with_arguments") {
    co_return said({TextContent{cat("Prompt with arguments: arg1='", params.arguments["arg1"],
                                    "', arg2='", params.arguments["arg2"], "'")}});
  }
  if (params.name == "test_prompt_with_embedded_resource") {
    co_return said({resource(params.arguments["resourceUri"], "text/plain",
                             "Embedded resource content for testing."),
                    TextContent{"Please process the embedded resource above."}});
  }
  if (params.name == "test_prompt_with_image") {
    co_return said({picture(), TextContent{"Please analyze the image above."}});
  }
  if (params.name == "test_input_required_result_prompt") {
    if (json::object_at(&params.input_responses, "user_context")) {
      co_return said({TextContent{"The context is here."}});
    }
    co_return PromptOutcome(
        InputRequired{.requests = {{"user_context", ask_form("What context should the prompt use?",
                                                             "context", "string")}}});
  }
  co_return Error(ErrorCode::not_found, cat("there is no prompt ", params.name));
}

Task<Result<std::vector<Resource>>> ConformanceFixture::resources() {
  const std::string description = "For the conformance suite.";
  co_return std::vector<Resource>{{.uri = "test://static-text",
                                   .name = "static-text",
                                   .description = description,
                                   .mime_type = "text/plain"},
                                  {.uri = "test://static-binary",
                                   .name = "static-binary",
                                   .description = description,
                                   .mime_type = "image/png"},
                                  {.uri = "test://watched-resource",
                                   .name = "watched-resource",
                                   .description = description,
                                   .mime_type = "text/plain"}};
}

Task<Result<std::vector<ResourceTemplate>>> ConformanceFixture::resource_templates() {
  co_return std::vector<ResourceTemplate>{{.uri_template = "test://template/{id}/data",
                                           .name = "template",
                                           .description = "For the conformance suite.",
                                           .mime_type = "application/json"}};
}

Task<Result<std::vector<EmbeddedResource>>> ConformanceFixture::read_resource(std::string uri) {
  using Found = std::vector<EmbeddedResource>;
  if (uri == "test://static-text") {
    co_return Found{
        resource(uri, "text/plain", "This is the content of the static text resource.")};
  }
  if (uri == "test://static-binary") {
    co_return Found{{.uri = uri, .mime_type = "image/png", .body = BlobBody{std::string(kPng)}}};
  }
  if (uri == "test://watched-resource") co_return Found{resource(uri, "text/plain", "watched")};
  constexpr std::string_view kHead = "test://template/";
  constexpr std::string_view kTail = "/data";
  bool fits =
      uri.size() > kHead.size() + kTail.size() && uri.starts_with(kHead) && uri.ends_with(kTail);
  if (fits) {
    std::string id = uri.substr(kHead.size(), uri.size() - kHead.size() - kTail.size());
    json::Object data{{"id", id}, {"templateTest", true}, {"data", cat("Data for ID: ", id)}};
    co_return Found{resource(uri, "application/json", json::write(data))};
  }
  co_return Error(ErrorCode::not_found, cat("there is no resource ", uri));
}

Task<Result<Completion>> ConformanceFixture::complete(CompleteParams params) {
  co_return Completion{.values = {cat(params.value, "paris")}};
}

}  // namespace errand::mcp

// Whether the schemas of /openapi.json take what the readers of requests take: words, patterns and
// bounds that stand in both places are tried on both.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "engine/models/model_list.hpp"
#include "engine/records/agents.hpp"
#include "engine/session_spec.hpp"
#include "json/parse.hpp"
#include "json/pointer.hpp"
#include "json/schema.hpp"
#include "json/write.hpp"
#include "room/access/token.hpp"
#include "run/output_schema.hpp"
#include "run/spec.hpp"
#include "run/status.hpp"
#include "run/tools/tool_ref.hpp"
#include "server/openapi/query.hpp"
#include "server/openapi/request_words.hpp"
#include "server/openapi/schemas.hpp"
#include "server/routes/room_token.hpp"
#include "tool/http/http_tool_def.hpp"
#include "tool/secrets.hpp"

namespace errand::server::validators_test {
namespace {

using Words = std::vector<std::string>;
using Read = std::function<Result<void>(const json::Value&)>;

constexpr std::string_view kNoWord = "no such word";

// A part of the schemas, and what reads the same from requests.
struct Place {
  std::string_view pointer;
  Read read;
  std::string begin = "a";  // of the texts to try
};

// Reads a body that has the value in place of '@'.
template <class Parse>
Read in_body(std::string_view body, Parse parse) {
  const std::size_t at = body.find('@');
  return [before = std::string(body.substr(0, at)), after = std::string(body.substr(at + 1)),
          parse](const json::Value& value) -> Result<void> {
    auto read = parse(json::parse(cat(before, json::write(value), after)).value());
    if (!read) return std::move(read).error();
    return {};
  };
}

Read in_run(std::string_view members) {
  return in_body(cat(R"({"prompt":"p",)", members, "}"),
                 [](const json::Value& body) { return parse_spec(body); });
}

Read in_messages(std::string_view messages) {
  return in_body(cat(R"({"messages":)", messages, "}"),
                 [](const json::Value& body) { return parse_spec(body); });
}

Read in_agent(std::string_view body) {
  return in_body(body, [](const json::Value& agent) { return engine::parse_agent(agent); });
}

Read in_http_tool(std::string_view body) {
  return in_body(body, [](const json::Value& tool) { return parse_http_tool(tool); });
}

Read in_room_token(std::string_view body) {
  return in_body(body, [](const json::Value& token) { return parse_token_params(token); });
}

template <class Accepts>
Read by(Accepts accepts) {
  return [accepts](const json::Value& value) -> Result<void> {
    if (value.is_string() && accepts(json::view(value.get_string()))) return {};
    return Error(ErrorCode::invalid_argument, "refused");
  };
}

// Where a word is one of a list.
std::vector<Place> choices() {
  constexpr std::string_view kFile = R"([{"role":"user","content":"c","attachments":[{"type":@,)"
                                     R"("filename":"a","mimeType":"text/plain","data":"aGk=",)"
                                     R"("url":"https://example.com/a"}]}])";
  return {
      {"/RunRequest/properties/retainTools", in_run(R"("retainTools":@)")},
      {"/SessionRequest/properties/retainTools", in_run(R"("retainTools":@)")},
      {"/AgentRequest/properties/retainTools", in_agent(R"({"name":"a","retainTools":@})")},
      {"/Message/properties/role",
       in_messages(R"([{"role":@,"content":"c"},{"role":"user","content":"c"}])")},
      {"/Attachment/properties/type", in_messages(kFile)},
      {"/Budgets/properties/maxToolTurnsExceeded",
       in_run(R"("budgets":{"maxToolTurnsExceeded":@})")},
      {"/Budgets/properties/onLocalToolTimeout", in_run(R"("budgets":{"onLocalToolTimeout":@})")},
      {"/ReasoningLevel/oneOf/0", in_run(R"("reasoningLevel":@)")},
      {"/OutputSchema/properties/enforcement",
       in_run(R"("outputSchema":{"schema":{},"enforcement":@})")},
      {"/HttpToolCall/properties/method",
       in_http_tool(R"({"name":"t","http":{"url":"https://example.com/","method":@}})")},
      {"/ParticipantRole", in_room_token(R"({"name":"n","role":@})")},
  };
}

// Where a text or a number has a form.
std::vector<Place> forms() {
  return {
      {"/Budgets/properties/maxToolTurns", in_run(R"("budgets":{"maxToolTurns":@})")},
      {"/Budgets/properties/localToolTimeoutMs", in_run(R"("budgets":{"localToolTimeoutMs":@})")},
      {"/ReasoningLevel/oneOf/1", in_run(R"("reasoningLevel":@)")},
      {"/Metadata/propertyNames", in_run(R"("metadata":{@:"v"})")},
      {"/Metadata/additionalProperties", in_run(R"("metadata":{"k":@})")},
      {"/OutputSchema/properties/name", in_run(R"("outputSchema":{"schema":{},"name":@})")},
      {"/RunRoom/oneOf/1/properties/url", in_run(R"("room":{"url":@,"token":"t"})"), "wss://h/"},
      {"/RunRoom/oneOf/1/properties/url", in_run(R"("room":{"url":@,"token":"t"})"), "ftp://h/"},
      {"/RunRoom/oneOf/1/properties/token", in_run(R"("room":{"url":"wss://h","token":@})")},
      {"/AgentRequest/properties/name", in_agent(R"({"name":@})")},
      {"/AgentRequest/properties/description", in_agent(R"({"name":"a","description":@})")},
      {"/HttpToolRequest/properties/name",
       in_http_tool(R"({"name":@,"http":{"url":"https://example.com/"}})")},
      {"/HttpToolRequest/properties/timeoutMs",
       in_http_tool(R"({"name":"t","http":{"url":"https://example.com/"},"timeoutMs":@})")},
      {"/RoomTokenRequest/properties/ttlMs", in_room_token(R"({"name":"n","ttlMs":@})")},
      {"/SecretName", by(is_valid_secret_name)},
      {"/RoomName", by(room::is_room_name)},
      {"/WorkspaceRequest/properties/slug",
       by([](std::string_view slug) { return WorkspaceSlug::parse(slug).has_value(); })},
  };
}

template <class Range, class Name>
Words words_of(const Range& range, Name name) {
  Words words;
  for (const auto& one : range) words.emplace_back(name(one));
  return words;
}

template <class Range>
Words words_of(const Range& range) {
  return words_of(range, [](std::string_view word) { return word; });
}

// The kinds of tools whose calls clients answer.
Words client_kinds() {
  constexpr auto kRefs = std::to_array<std::string_view>(
      {R"({"kind":"local","name":"a"})", R"({"kind":"a2a_local","name":"b","agentCard":{}})",
       R"({"kind":"mcp_local","name":"c","tools":[{"name":"c"}]})",
       R"({"kind":"mcp","name":"d","url":"https://example.com/"})",
       R"({"kind":"a2a","name":"e","agentCardUrl":"https://example.com/"})",
       R"({"kind":"mantyx","id":"f"})", R"({"kind":"mantyx_plugin","name":"g"})",
       R"({"kind":"agent","agentId":"h"})"});
  Words kinds;
  for (std::string_view text : kRefs) {
    auto ref = parse_tool_ref(json::parse(text).value(), "", Origin::wire, nullptr);
    const ToolDecl decl = offered_tools(ref.value()).front().decl;
    if (decl.site == ToolSite::client) kinds.push_back(decl.kind);
  }
  return kinds;
}

// A run that waits for a client says the same as one that is running.
Words run_statuses() {
  Words words;
  for (std::size_t i = 0; i < kRunStatuses; ++i) {
    std::string word(to_string(static_cast<RunStatus>(i)));
    if (words.empty() || words.back() != word) words.push_back(std::move(word));
  }
  return words;
}

// Words that answers have, or that are read elsewhere from a table that is named here.
std::vector<std::pair<std::string_view, Words>> tables() {
  using State = llm::Reachability::State;
  const Words kinds = client_kinds();
  const Words when_busy =
      words_of(std::to_array({WhenBusy::queue, WhenBusy::reject, WhenBusy::interrupt}),
               [](WhenBusy word) { return engine::to_string(word); });
  return {
      {"/WhenBusy", when_busy},
      {"/SessionStatus", words_of(query::kSessionStatus.words())},
      {"/RunStatus", run_statuses()},
      {"/ToolCall/properties/status", words_of(query::kCallStatus.words())},
      {"/ToolCall/properties/kind", kinds},
      {"/event.local_tool_call/properties/kind", kinds},
      {"/StructuredOutput/properties/enforcementMechanism",
       words_of(std::to_array({OutputMechanism::native, OutputMechanism::answer_tool,
                               OutputMechanism::plain}),
                [](OutputMechanism mechanism) { return to_string(mechanism); })},
      {"/Model/properties/status",
       words_of(std::to_array(
                    {State::reachable, State::wrong_key, State::no_such_model, State::unreachable}),
                [](State state) { return engine::to_string(state); })},
      {"/FeedbackRequest/properties/verdict", words_of(kVerdicts)},
      {"/Feedback/properties/verdict", words_of(kVerdicts)},
      {"/TokenRequest/properties/grant_type", words_of(kGrantTypes)},
  };
}

// Looked at elsewhere: the kinds of tools with their members (openapi_test.cpp), the version of
// JSON-RPC, which is a constant, and plans, below.
const std::set<std::string> kOtherWords = {"/A2aAnswer/properties/jsonrpc",
                                           "/A2aMessage/properties/jsonrpc",
                                           "/Plan/properties/planOnly", "/Tool/properties/kind"};

json::Value all_schemas() {
  return json::Value(component_schemas());
}

Words enum_at(const json::Value& schemas, std::string_view pointer) {
  Words words;
  for (const json::Value& word : json::find_pointer(schemas, cat(pointer, "/enum"))->as_array()) {
    words.emplace_back(json::view(word.as_string()));
  }
  return words;
}

// The schemas that have a keyword, as pointers.
void collect(const json::Value& value, const std::string& pointer, std::string_view keyword,
             std::set<std::string>& out) {
  if (const json::Array* items = value.if_array()) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      collect((*items)[i], cat(pointer, "/", i), keyword, out);
    }
  }
  const json::Object* members = value.if_object();
  if (!members) return;
  if (members->if_contains(keyword)) out.insert(pointer);
  for (const auto& member : *members) {
    if (member.key() == "example") continue;
    collect(member.value(), cat(pointer, "/", std::string_view(member.key())), keyword, out);
  }
}

std::set<std::string> places_with(std::string_view keyword) {
  std::set<std::string> out;
  collect(all_schemas(), "", keyword, out);
  return out;
}

// Texts of all lengths up to a few more than names have, and around the schema's own bound; and
// short ones with each character at the end and inside.
std::vector<json::Value> texts_to_try(const json::Value& schema, const std::string& begin) {
  constexpr std::size_t kLongName = 70;
  std::vector<json::Value> out;
  auto add_length = [&](std::size_t length) {
    if (length < begin.size()) return;
    out.emplace_back(begin + std::string(length - begin.size(), 'a'));
  };
  for (std::size_t length = 0; length <= kLongName; ++length) add_length(length);
  if (const json::Value* most = schema.as_object().if_contains("maxLength")) {
    for (std::size_t length : {0U, 1U}) add_length(most->to_number<std::size_t>() + length);
  }
  Words ends = {"", "\n", "\u00e9"};
  for (char c = ' '; c <= '~'; ++c) ends.emplace_back(1, c);
  for (const std::string& end : ends) {
    for (std::string_view more : {"", "a"}) {
      out.emplace_back(cat(begin, end, more));
      out.emplace_back(cat(end, more));
    }
  }
  return out;
}

std::vector<json::Value> values_to_try(const json::Value& schema, const std::string& begin) {
  const json::Value* type = schema.as_object().if_contains("type");
  if (!type || *type != "integer") return texts_to_try(schema, begin);
  const auto least = schema.at("minimum").to_number<std::int64_t>();
  const auto most = schema.at("maximum").to_number<std::int64_t>();
  return {least - 1, least, most, most + 1};
}

TEST(Validators, ChoicesAreThoseOfTheDocument) {
  const json::Value schemas = all_schemas();
  for (const Place& place : choices()) {
    std::string listed;
    for (const std::string& word : enum_at(schemas, place.pointer)) {
      EXPECT_TRUE(place.read(json::Value(word))) << place.pointer << " " << word;
      append(listed, listed.empty() ? "" : ", ", '"', word, '"');
    }
    const auto refused = place.read(json::Value(kNoWord));
    ASSERT_FALSE(refused) << place.pointer;
    EXPECT_EQ(refused.error().message(), cat("expected one of ", listed, ", got \"", kNoWord, "\""))
        << place.pointer;
  }
}

TEST(Validators, WordsOfTablesAreThoseOfTheDocument) {
  const json::Value schemas = all_schemas();
  for (const auto& [pointer, words] : tables()) {
    EXPECT_EQ(enum_at(schemas, pointer), words) << pointer;
  }
}

TEST(Validators, EveryListOfWordsIsCompared) {
  std::set<std::string> compared = kOtherWords;
  for (const Place& place : choices()) compared.emplace(place.pointer);
  for (const auto& [pointer, words] : tables()) compared.emplace(pointer);
  EXPECT_EQ(places_with("enum"), compared);
}

TEST(Validators, TakeWhatTheDocumentTakes) {
  const json::Value schemas = all_schemas();
  for (const Place& place : forms()) {
    const json::Value& schema = *json::find_pointer(schemas, place.pointer);
    const auto compiled = json::compile_schema(schema).value();
    for (const json::Value& value : values_to_try(schema, place.begin)) {
      const auto read = place.read(value);
      EXPECT_EQ(compiled->accepts(value), read.has_value())
          << place.pointer << " " << json::write(value).substr(0, 100) << " "
          << (read ? "" : read.error().message());
    }
  }
}

TEST(Validators, EveryPatternIsTried) {
  std::set<std::string> tried;
  for (const Place& place : forms()) tried.emplace(place.pointer);
  for (const std::string& pointer : places_with("pattern")) {
    EXPECT_TRUE(tried.contains(pointer)) << pointer;
  }
}

TEST(Validators, RefuseThePlansThatTheDocumentRefuses) {
  const json::Value schemas = all_schemas();
  const auto compiled = json::compile_schema(*json::find_pointer(schemas, "/Plan")).value();
  const Read read = in_run(R"("plan":@)");
  for (const char* text : {"true", "\"required\"", "{}", R"({"planOnly":true})",
                           R"({"planOnly":false})", R"({"planOnly":null})", R"({"planOnly":0})",
                           R"({"planOnly":"yes"})", R"({"planOnly":{}})"}) {
    const json::Value value = json::parse(text).value();
    EXPECT_EQ(compiled->accepts(value), read(value).has_value()) << text;
  }
}

// A number that stands in a chapter itself, instead of the name of a constant, is compared above.
TEST(Validators, BoundsThatAreWrittenOutAreTried) {
  std::set<std::string> tried;
  for (const Place& place : forms()) tried.emplace(place.pointer);
  tried.insert("/RunRequest/properties/attachments");  // none are taken there
  for (std::string_view chapter :
       {run_schemas(), call_schemas(), event_schemas(), session_schemas(), record_schemas(),
        room_schemas(), oauth_schemas(), protocol_schemas(), server_schemas()}) {
    const json::Value schemas = json::parse(chapter).value();
    for (const char* keyword : {"maximum", "maxLength", "maxItems", "maxProperties"}) {
      std::set<std::string> found;
      collect(schemas, "", keyword, found);
      for (const std::string& pointer : found) {
        const json::Value& most = *json::find_pointer(schemas, cat(pointer, "/", keyword));
        EXPECT_TRUE(most.is_string() || tried.contains(pointer)) << pointer << " " << keyword;
      }
    }
  }
}

}  // namespace
}  // namespace errand::server::validators_test

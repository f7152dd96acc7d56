#include "run/spec.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::spec_test {
namespace {

Result<Spec> parse_text(std::string_view text) {
  return parse_spec(json::parse(text).value());
}

// "pointer: message" of the refusal; "accepted" if there is none.
std::string refusal(std::string_view text) {
  auto spec = parse_text(text);
  if (spec) return "accepted";
  EXPECT_EQ(spec.error().code(), ErrorCode::invalid_argument);
  return cat(spec.error().pointer(), ": ", spec.error().message());
}

// The refusal of a good body with one more member.
std::string refusal_with(std::string_view member) {
  return refusal(cat(R"({"prompt":"hi",)", member, "}"));
}

std::string repeated(std::size_t count, const std::function<std::string(std::size_t)>& item) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) append(out, i == 0 ? "" : ",", item(i));
  return out;
}

std::string tools(std::size_t count) {
  return cat(
      R"("tools":[)",
      repeated(count, [](std::size_t i) { return cat(R"({"kind":"local","name":"t)", i, "\"}"); }),
      "]");
}

std::string messages(std::size_t count) {
  return cat(R"({"messages":[)",
             repeated(count, [](std::size_t) { return R"({"role":"user","content":"hi"})"; }),
             "]}");
}

std::string metadata(std::size_t entries, std::size_t value_chars) {
  return cat(R"("metadata":{)",
             repeated(entries,
                      [&](std::size_t i) {
                        return cat("\"k", i, "\":\"", std::string(value_chars, 'v'), "\"");
                      }),
             "}");
}

constexpr std::string_view kFullSpec =
    R"({"name":"agent","modelId":"platform:x","systemPrompt":"Be brief.",)"
    R"("messages":[{"role":"system","content":"s"},{"role":"assistant","content":"a"},)"
    R"({"role":"user","content":"u"}],)"
    R"("tools":[{"kind":"local","name":"read_file","description":"Reads.",)"
    R"("parameters":{"type":"object","properties":{"path":{"type":"string"}}},)"
    R"("readOnly":true,"longRunning":true},)"
    R"({"kind":"local","name":"write_file","description":"","parameters":{"type":"object"}}],)"
    R"("metadata":{"z.key":"1","a-key":"","A_9":"é"},)"
    R"("budgets":{"localToolTimeoutMs":1000,"onLocalToolTimeout":"continue","maxToolTurns":3,)"
    R"("maxToolTurnsExceeded":"finalize"},)"
    R"("loopDetection":{"consecutiveThreshold":2},"toolBudgets":{"read_file":{"maxCalls":0}}})";

TEST(Spec, APromptIsEnough) {
  auto spec = parse_text(R"({"prompt":"hi"})");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->prompt, "hi");
  EXPECT_EQ(json::write(to_json(*spec)), R"({"prompt":"hi","tools":[]})");
}

TEST(Spec, EveryMemberIsReadAndWrittenAgain) {
  auto spec = parse_text(kFullSpec);
  ASSERT_TRUE(spec);
  EXPECT_EQ(json::write(to_json(*spec)), kFullSpec);
}

TEST(Spec, TheJournaledFormReadsBackTheSame) {
  Spec spec = parse_text(kFullSpec).value();
  std::vector<ToolRef> refs = spec.tools->refs;
  refs.emplace_back(HostTool{.name = "clock"});
  spec.tools = share_tools(std::move(refs));
  std::string written;
  write(written, spec);
  EXPECT_EQ(written, json::write(to_json(spec)));
  auto again = parse_journaled_spec(json::parse(written).value());
  ASSERT_TRUE(again) << again.error().describe();
  EXPECT_EQ(json::write(to_json(*again)), written);
}

TEST(Spec, MembersLandInTheirFields) {
  Spec spec = parse_text(kFullSpec).value();
  EXPECT_EQ(spec.name, "agent");
  EXPECT_EQ(spec.model_id, "platform:x");
  EXPECT_EQ(spec.system_prompt, "Be brief.");
  EXPECT_EQ(spec.prompt, std::nullopt);
  ASSERT_EQ(spec.messages.size(), 3U);
  EXPECT_EQ(spec.messages[1].role, Role::assistant);
  EXPECT_EQ(spec.messages[1].text, "a");
  const auto& tool = std::get<LocalTool>(spec.tools->refs.at(0));
  EXPECT_EQ(tool.name, "read_file");
  EXPECT_TRUE(tool.annotations.read_only);
  EXPECT_TRUE(tool.annotations.long_running);
  EXPECT_EQ(spec.metadata[1], (std::pair<std::string, std::string>{"a-key", ""}));
  EXPECT_EQ(spec.budgets.local_tool_timeout, milliseconds(1000));
  EXPECT_EQ(spec.budgets.on_local_tool_timeout, OnTimeout::go_on);
  EXPECT_EQ(spec.budgets.max_tool_turns, 3);
}

TEST(Spec, UnknownMembersAndNullsAreIgnored) {
  EXPECT_EQ(refusal(R"({"prompt":"hi","messages":null,"tools":null,"name":null,"metadata":null,)"
                    R"("budgets":null,"stream":true,"x":{"y":1}})"),
            "accepted");
}

TEST(Spec, AnEmptyPromptIsAPrompt) {
  EXPECT_EQ(parse_text(R"({"prompt":""})").value().prompt, "");
}

TEST(Spec, WhatIsNotAnObjectIsRefused) {
  EXPECT_EQ(refusal("[]"), ": expected an object, got an array");
  EXPECT_EQ(refusal("null"), ": expected an object, got null");
}

TEST(Spec, WrongTypesAreNamedWithTheirPlace) {
  EXPECT_EQ(refusal(R"({"prompt":1})"), "/prompt: expected a string, got an integer");
  EXPECT_EQ(refusal(R"({"messages":{}})"), "/messages: expected an array, got an object");
  EXPECT_EQ(refusal_with(R"("name":[])"), "/name: expected a string, got an array");
  EXPECT_EQ(refusal_with(R"("modelId":1)"), "/modelId: expected a string, got an integer");
  EXPECT_EQ(refusal_with(R"("systemPrompt":{})"),
            "/systemPrompt: expected a string, got an object");
  EXPECT_EQ(refusal_with(R"("tools":"all")"), "/tools: expected an array, got a string");
  EXPECT_EQ(refusal_with(R"("metadata":[])"), "/metadata: expected an object, got an array");
  EXPECT_EQ(refusal_with(R"("budgets":1)"), "/budgets: expected an object, got an integer");
}

TEST(Spec, PromptAndMessagesTogetherAreRefused) {
  EXPECT_EQ(refusal_with(R"("messages":[{"role":"user","content":"u"}])"),
            "/messages: give either \"prompt\" or \"messages\", not both");
  EXPECT_EQ(refusal_with(R"("messages":[])"),
            "/messages: give either \"prompt\" or \"messages\", not both");
}

TEST(Spec, NeitherPromptNorMessagesIsRefused) {
  constexpr std::string_view kMissing =
      "/prompt: \"prompt\" is missing: give a \"prompt\" or \"messages\"";
  EXPECT_EQ(refusal("{}"), kMissing);
  EXPECT_EQ(refusal(R"({"prompt":null})"), kMissing);
  EXPECT_EQ(refusal(R"({"messages":[]})"), kMissing);
}

TEST(Spec, AMessageNeedsARoleAndContent) {
  EXPECT_EQ(refusal(R"({"messages":["hi"]})"), "/messages/0: expected an object, got a string");
  EXPECT_EQ(
      refusal(R"({"messages":[{"role":"user","content":"u"},{"content":"u"}]})"),
      "/messages/1/role: \"role\" is missing: expected \"user\", \"assistant\" or \"system\"");
  EXPECT_EQ(refusal(R"({"messages":[{"role":"tool","content":"u"}]})"),
            "/messages/0/role: expected one of \"user\", \"assistant\", \"system\", got \"tool\"");
  EXPECT_EQ(refusal(R"({"messages":[{"role":1,"content":"u"}]})"),
            "/messages/0/role: expected a string, got an integer");
  EXPECT_EQ(refusal(R"({"messages":[{"role":"user"}]})"),
            "/messages/0/content: \"content\" is missing: expected a string");
  EXPECT_EQ(refusal(R"({"messages":[{"role":"user","content":[]}]})"),
            "/messages/0/content: expected a string, got an array");
}

TEST(Spec, MessagesAreLimited) {
  EXPECT_EQ(refusal(messages(kMessagesMax)), "accepted");
  EXPECT_EQ(refusal(messages(kMessagesMax + 1)), "/messages: at most 200 messages are allowed");
}

TEST(Spec, TheNameIsLimitedInCharacters) {
  std::string longest;
  for (std::size_t i = 0; i < kNameCharsMax; ++i) longest += "\xC3\xA9";
  EXPECT_EQ(refusal_with(cat("\"name\":\"", longest, "\"")), "accepted");
  EXPECT_EQ(refusal_with(cat("\"name\":\"", longest, "x\"")),
            "/name: a name has at most 200 characters");
}

TEST(Spec, AToolNeedsAKindThatThereIs) {
  EXPECT_EQ(refusal_with(R"("tools":[7])"), "/tools/0: expected an object, got an integer");
  EXPECT_EQ(refusal_with(R"("tools":[{"name":"t"}])"),
            "/tools/0/kind: \"kind\" is missing: expected a string");
  EXPECT_EQ(refusal_with(R"("tools":[{"kind":"local","name":"t"},{"kind":"remote","name":"u"}])"),
            "/tools/1/kind: \"remote\" is not a kind of tool: use \"local\", \"a2a_local\", "
            "\"mcp_local\", "
            "\"mantyx\", \"mantyx_plugin\", \"mcp\", \"a2a\" or \"agent\"");
}

TEST(Spec, ToolsOfThisProcessCannotBeAskedForFromOutside) {
  EXPECT_EQ(
      refusal_with(R"("tools":[{"kind":"host","name":"clock"}])"),
      "/tools/0/kind: \"host\" is not a kind of tool: use \"local\", \"a2a_local\", \"mcp_local\", "
      "\"mantyx\", \"mantyx_plugin\", \"mcp\", \"a2a\" or \"agent\"");
}

TEST(Spec, AToolNameIsOfLettersDigitsAndUnderscores) {
  EXPECT_EQ(refusal_with(R"("tools":[{"kind":"local"}])"),
            "/tools/0/name: \"name\" is missing: expected a string");
  EXPECT_EQ(refusal_with(R"("tools":[{"kind":"local","name":1}])"),
            "/tools/0/name: expected a string, got an integer");
  for (std::string_view name : {"", "a b", "a-b", "a.b", "é", "a/b"}) {
    EXPECT_EQ(refusal_with(cat(R"("tools":[{"kind":"local","name":")", name, "\"}]")),
              cat("/tools/0/name: \"", name,
                  "\" is not a tool name: use 1 to 64 letters, digits and underscores"));
  }
  EXPECT_EQ(refusal_with(cat(R"("tools":[{"kind":"local","name":")", std::string(64, 'Z'), "\"}]")),
            "accepted");
  EXPECT_EQ(
      refusal_with(cat(R"("tools":[{"kind":"local","name":")", std::string(1000, 'Z'), "\"}]")),
      cat("/tools/0/name: \"", std::string(80, 'Z'),
          "\" is not a tool name: use 1 to 64 letters, digits and underscores"));
}

TEST(Spec, TwoToolsCannotHaveOneName) {
  EXPECT_EQ(refusal_with(R"("tools":[{"kind":"local","name":"t"},{"kind":"local","name":"u"},)"
                         R"({"kind":"local","name":"t"}])"),
            "/tools/2/name: two tools are called \"t\": /tools/0/name and /tools/2/name");
}

TEST(Spec, TheRestOfAToolIsCheckedToo) {
  auto tool_with = [](std::string_view member) {
    return refusal_with(cat(R"("tools":[{"kind":"local","name":"t",)", member, "}]"));
  };
  EXPECT_EQ(tool_with(R"("description":1)"),
            "/tools/0/description: expected a string, got an integer");
  EXPECT_EQ(tool_with(R"("parameters":[])"),
            "/tools/0/parameters: expected an object, got an array");
  EXPECT_EQ(tool_with(R"("readOnly":"yes")"),
            "/tools/0/readOnly: expected true or false, got a string");
  EXPECT_EQ(tool_with(R"("longRunning":1)"),
            "/tools/0/longRunning: expected true or false, got an integer");
}

TEST(Spec, ToolsAreLimited) {
  EXPECT_EQ(refusal_with(tools(kToolsMax)), "accepted");
  EXPECT_EQ(refusal_with(tools(kToolsMax + 1)),
            "/tools: there are 257 tools; at most 256 are allowed");
}

TEST(Spec, ParametersThatAreNoObjectSchemaBecomeAPermissiveOne) {
  for (std::string_view parameters : {R"("parameters":{})", R"("parameters":{"type":"string"})",
                                      R"("parameters":null)", R"("parameters":{"anyOf":[]})"}) {
    Spec spec =
        parse_text(cat(R"({"prompt":"","tools":[{"kind":"local","name":"t",)", parameters, "}]}"))
            .value();
    EXPECT_EQ(json::write(*std::get<LocalTool>(spec.tools->refs[0]).parameters),
              R"({"type":"object","properties":{}})");
  }
}

TEST(Spec, MetadataIsLimitedInEntriesAndBytes) {
  EXPECT_EQ(refusal_with(metadata(kMetadataEntriesMax, 10)), "accepted");
  EXPECT_EQ(refusal_with(metadata(kMetadataEntriesMax + 1, 10)),
            "/metadata: at most 16 entries are allowed");
  EXPECT_EQ(refusal_with(metadata(kMetadataEntriesMax, 240)), "accepted");
  EXPECT_EQ(refusal_with(metadata(kMetadataEntriesMax, 256)),
            "/metadata: the metadata is longer than 4096 bytes");
}

TEST(Spec, AMetadataKeyIsOfFewCharacters) {
  constexpr std::string_view kRule =
      ": a metadata key is 1 to 64 letters, digits, dots, underscores and dashes";
  EXPECT_EQ(refusal_with(R"("metadata":{"":"v"})"), cat("/metadata/", kRule));
  EXPECT_EQ(refusal_with(R"("metadata":{"ok":"v","a b":"v"})"), cat("/metadata/a b", kRule));
  EXPECT_EQ(refusal_with(R"("metadata":{"a/~b":"v"})"), cat("/metadata/a~1~0b", kRule));
  std::string longest(kMetadataKeyCharsMax, 'k');
  EXPECT_EQ(refusal_with(cat(R"("metadata":{")", longest, R"(":"v"})")), "accepted");
  EXPECT_EQ(refusal_with(cat(R"("metadata":{"x)", longest, R"(":"v"})")),
            cat("/metadata/x", longest, kRule));
}

TEST(Spec, AMetadataValueIsAShortString) {
  constexpr std::string_view kRule =
      "/metadata/k: a metadata value is a string of at most 256 characters";
  EXPECT_EQ(refusal_with(R"("metadata":{"k":1})"), kRule);
  EXPECT_EQ(refusal_with(R"("metadata":{"k":null})"), kRule);
  std::string longest;
  for (std::size_t i = 0; i < kMetadataValueCharsMax; ++i) longest += "\xE2\x82\xAC";
  EXPECT_EQ(refusal_with(cat(R"("metadata":{"k":")", longest, "\"}")), "accepted");
  EXPECT_EQ(refusal_with(cat(R"("metadata":{"k":")", longest, "x\"}")), kRule);
}

TEST(Spec, BudgetsHaveRanges) {
  auto budget = [](std::string_view member) {
    return refusal_with(cat(R"("budgets":{)", member, "}"));
  };
  EXPECT_EQ(budget(R"("localToolTimeoutMs":1)"), "accepted");
  EXPECT_EQ(budget(R"("localToolTimeoutMs":86400000)"), "accepted");
  EXPECT_EQ(budget(R"("maxToolTurns":0)"), "accepted");
  EXPECT_EQ(budget(R"("maxToolTurns":1000)"), "accepted");
  EXPECT_EQ(budget(R"("onLocalToolTimeout":"fail")"), "accepted");

  constexpr std::string_view kTimeout =
      "/budgets/localToolTimeoutMs: expected an integer from 1 to 86400000, got ";
  EXPECT_EQ(budget(R"("localToolTimeoutMs":0)"), cat(kTimeout, "0"));
  EXPECT_EQ(budget(R"("localToolTimeoutMs":86400001)"), cat(kTimeout, "86400001"));
  EXPECT_EQ(budget(R"("localToolTimeoutMs":1.5)"), cat(kTimeout, "a number"));
  EXPECT_EQ(budget(R"("localToolTimeoutMs":"1")"), cat(kTimeout, "a string"));
  constexpr std::string_view kTurns =
      "/budgets/maxToolTurns: expected an integer from 0 to 1000, got ";
  EXPECT_EQ(budget(R"("maxToolTurns":-1)"), cat(kTurns, "-1"));
  EXPECT_EQ(budget(R"("maxToolTurns":1001)"), cat(kTurns, "1001"));
  EXPECT_EQ(budget(R"("onLocalToolTimeout":"retry")"),
            "/budgets/onLocalToolTimeout: expected one of \"fail\", \"continue\", got \"retry\"");
}

TEST(Spec, TheConversationOpensWithThePromptOrTheMessages) {
  auto opening_of = [](std::string_view text) {
    return opening_messages(std::make_shared<const Spec>(parse_text(text).value()));
  };
  auto prompt = opening_of(R"({"prompt":"hi"})");
  ASSERT_EQ(prompt.size(), 1U);
  EXPECT_EQ(prompt[0]->role, Role::user);
  EXPECT_EQ(prompt[0]->text, "hi");
  auto given = opening_of(kFullSpec);
  ASSERT_EQ(given.size(), 2U);
  EXPECT_EQ(given[0]->role, Role::assistant);
}

TEST(Spec, MessagesOfTheSystemFollowTheSystemPrompt) {
  auto whole = [](std::string_view text) { return whole_system_prompt(parse_text(text).value()); };
  EXPECT_EQ(whole(R"({"prompt":"hi"})"), "");
  EXPECT_EQ(whole(R"({"systemPrompt":"One.","prompt":"hi"})"), "One.");
  EXPECT_EQ(whole(R"({"messages":[{"role":"system","content":"Two."},
                                  {"role":"user","content":"hi"}]})"),
            "Two.");
  EXPECT_EQ(whole(R"({"systemPrompt":"One.","messages":[{"role":"system","content":"Two."},
                      {"role":"user","content":"hi"},{"role":"system","content":"Three."}]})"),
            "One.\n\nTwo.\n\nThree.");
}

TEST(Spec, RunsThatOnlyPlanAreRefused) {
  auto with = [](std::string_view members) {
    auto spec = parse_spec(*json::parse(cat(R"({"prompt":"p",)", members, "}")));
    return spec ? "" : spec.error().describe();
  };
  constexpr std::string_view kRefused =
      "this server cannot plan without running the agent (at /plan/planOnly)";
  EXPECT_EQ(with(R"("plan":{"planOnly":true})"), kRefused);
  EXPECT_EQ(with(R"("plan":{"planOnly":"yes","steps":[]})"), kRefused);
  for (std::string_view ignored :
       {R"("plan":{"planOnly":false})", R"("plan":{"planOnly":null})", R"("plan":true)",
        R"("plan":"required")", R"("plan":{"brief":"b","steps":[]})", R"("supervisor":true)",
        R"("supervisor":{"interval":5,"reasoningTrigger":false})"}) {
    EXPECT_EQ(with(ignored), "");
  }
}

TEST(Spec, AStoredAgentHasAnIdOrAName) {
  auto asked = [](std::string_view body) { return parse_spec(*json::parse(body)); };
  EXPECT_EQ(asked(R"({"prompt":"p","agentId":"agent_1"})")->agent_id, "agent_1");
  EXPECT_EQ(asked(R"({"prompt":"p","agentId":null})")->agent_id, "");
  EXPECT_EQ(asked(R"({"prompt":"p","agentId":"my agent"})").error().describe(),
            "\"my agent\" is not the id or name of an agent (at /agentId)");
  EXPECT_EQ(asked(R"({"prompt":"p","agentId":""})").error().pointer(), "/agentId");
}

TEST(Spec, TheVersionOfAnAgentIsTheJournalsToSay) {
  auto body = *json::parse(R"({"prompt":"p","tools":[],"agentId":"agent_1","agentVersion":3})");
  EXPECT_EQ(parse_spec(body)->agent_version, 0);
  Spec kept = parse_journaled_spec(body).value();
  EXPECT_EQ(kept.agent_version, 3);
  EXPECT_EQ(to_json(kept), body);
}

TEST(Spec, MetadataIsShownAsAnObject) {
  EXPECT_EQ(json::write(metadata_json(parse_text(kFullSpec).value())),
            R"({"z.key":"1","a-key":"","A_9":"é"})");
}

TEST(Spec, ReasoningLevelIsAWordOrANumber) {
  auto level = [](std::string_view value) {
    auto spec = parse_spec(*json::parse(cat(R"({"prompt":"p","reasoningLevel":)", value, "}")));
    if (!spec) return spec.error().describe();
    return spec->reasoning_level ? std::to_string(*spec->reasoning_level) : "absent";
  };
  EXPECT_EQ(level(R"("off")"), "0");
  EXPECT_EQ(level(R"("low")"), "30");
  EXPECT_EQ(level(R"("medium")"), "50");
  EXPECT_EQ(level(R"("high")"), "80");
  EXPECT_EQ(level("0"), "0");
  EXPECT_EQ(level("100"), "100");
  EXPECT_EQ(level("null"), "absent");
  EXPECT_EQ(level("-1"), "expected an integer from 0 to 100, got -1 (at /reasoningLevel)");
  EXPECT_EQ(level("101"), "expected an integer from 0 to 100, got 101 (at /reasoningLevel)");
  EXPECT_EQ(level(R"("max")"),
            R"(expected one of "off", "low", "medium", "high", got "max" (at /reasoningLevel))");
}

// A level of 0 is not the same as none: it switches off what a vendor does by itself.
TEST(Spec, ReasoningLevelOfZeroIsKept) {
  auto spec = parse_journaled_spec(to_json(*parse_text(R"({"prompt":"p","reasoningLevel":0})")));
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->reasoning_level, 0);
}

TEST(Spec, ReasoningEffortIsTheWordOfALevel) {
  EXPECT_EQ(reasoning_effort(0), "off");
  EXPECT_EQ(reasoning_effort(1), "low");
  EXPECT_EQ(reasoning_effort(35), "low");
  EXPECT_EQ(reasoning_effort(36), "medium");
  EXPECT_EQ(reasoning_effort(65), "medium");
  EXPECT_EQ(reasoning_effort(66), "high");
  EXPECT_EQ(reasoning_effort(100), "high");
}

}  // namespace
}  // namespace errand::spec_test

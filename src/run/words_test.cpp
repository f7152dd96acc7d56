// The small words of a run: statuses, mail, usage, tool declarations.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/log/mail.hpp"
#include "run/log/session_message.hpp"
#include "run/message.hpp"
#include "run/status.hpp"
#include "run/tools/tool_decl.hpp"
#include "run/usage.hpp"

namespace errand::words_test {
namespace {

TEST(RunStatus, HasAWordOnTheWire) {
  EXPECT_EQ(to_string(RunStatus::queued), "queued");
  EXPECT_EQ(to_string(RunStatus::running), "running");
  EXPECT_EQ(to_string(RunStatus::waiting), "running");
  EXPECT_EQ(to_string(RunStatus::succeeded), "succeeded");
  EXPECT_EQ(to_string(RunStatus::failed), "failed");
  EXPECT_EQ(to_string(RunStatus::cancelled), "cancelled");
}

TEST(RunStatus, WordsReadBack) {
  EXPECT_EQ(parse_run_status("queued"), RunStatus::queued);
  EXPECT_EQ(parse_run_status("running"), RunStatus::running);
  EXPECT_EQ(parse_run_status("succeeded"), RunStatus::succeeded);
  EXPECT_EQ(parse_run_status("failed"), RunStatus::failed);
  EXPECT_EQ(parse_run_status("cancelled"), RunStatus::cancelled);
  for (std::string_view word : {"", "waiting", "Running", "running ", "done"}) {
    EXPECT_EQ(parse_run_status(word), std::nullopt) << word;
  }
}

TEST(RunStatus, ThreeAreTerminal) {
  EXPECT_FALSE(is_terminal(RunStatus::queued));
  EXPECT_FALSE(is_terminal(RunStatus::running));
  EXPECT_FALSE(is_terminal(RunStatus::waiting));
  EXPECT_TRUE(is_terminal(RunStatus::succeeded));
  EXPECT_TRUE(is_terminal(RunStatus::failed));
  EXPECT_TRUE(is_terminal(RunStatus::cancelled));
}

std::string rewritten_mail(std::string_view body) {
  auto answer = parse_tool_answer(body);
  if (!answer) return cat("! ", to_string(answer.error().code()), ": ", answer.error().describe());
  return to_mail_body(*answer);
}

TEST(Mail, AnAnswerIsStoredAsJson) {
  EXPECT_EQ(to_mail_body({.ok = true, .text = "a\n\"b\""}), R"({"ok":true,"text":"a\n\"b\""})");
  EXPECT_EQ(to_mail_body({.ok = false, .text = "", .timed_out = true}),
            R"({"ok":false,"text":"","timedOut":true})");
}

TEST(Mail, AnAnswerReadsBack) {
  for (std::string_view body : {R"({"ok":true,"text":"a\n\"b\""})", R"({"ok":false,"text":"no"})",
                                R"({"ok":false,"text":"","timedOut":true})"}) {
    EXPECT_EQ(rewritten_mail(body), body);
  }
}

TEST(Mail, WhatWasNeverMadeHereIsAnInternalError) {
  EXPECT_EQ(rewritten_mail("{"), "! internal: not valid JSON: incomplete JSON at byte 1");
  EXPECT_EQ(rewritten_mail("{}"), "! internal: \"text\" is missing: expected a string (at /text)");
  EXPECT_EQ(rewritten_mail(R"({"ok":1,"text":""})"),
            "! internal: expected true or false, got an integer (at /ok)");
  EXPECT_EQ(rewritten_mail("[]"), "! internal: expected an object, got an array");
}

TEST(Usage, Adds) {
  Usage usage{.input_tokens = 1, .cached_tokens = 2, .reasoning_tokens = 3, .output_tokens = 4};
  usage += {.input_tokens = 10, .cached_tokens = 20, .reasoning_tokens = 30, .output_tokens = 40};
  EXPECT_EQ(
      usage,
      (Usage{
          .input_tokens = 11, .cached_tokens = 22, .reasoning_tokens = 33, .output_tokens = 44}));
}

TEST(Usage, ReadsBack) {
  Usage usage{
      .input_tokens = INT64_MAX, .cached_tokens = 2, .reasoning_tokens = 3, .output_tokens = 4};
  EXPECT_EQ(parse_usage(json::Value(to_json(usage))), usage);
  EXPECT_EQ(parse_usage(json::Object()), Usage{});
}

TEST(ModelInfo, ReadsBack) {
  ModelInfo model{.id = "m", .provider = "p", .vendor_model_id = "v"};
  EXPECT_EQ(parse_model_info(json::Value(to_json(model))), model);
  EXPECT_EQ(parse_model_info(json::Object()), ModelInfo{});
}

TEST(Message, RolesHaveWords) {
  EXPECT_EQ(to_string(Role::system), "system");
  EXPECT_EQ(to_string(Role::user), "user");
  EXPECT_EQ(to_string(Role::assistant), "assistant");
}

TEST(Message, ReadsBack) {
  for (std::string_view text :
       {R"({"role":"system","content":"a"})", R"({"role":"user","content":""})",
        R"({"role":"assistant","content":"b"})",
        R"({"role":"user","content":"c","attachments":[)"
        R"({"type":"input_file","filename":"a.png","mimeType":"image/png","size":3,)"
        R"("sha256":"00ff"},{"type":"input_file_url","url":"https://a.b/c"}]})",
        R"({"role":"assistant","content":"d","calls":[{"toolUseId":"tu_1","name":"look",)"
        R"("providerId":"p1","arguments":"{}"}]})",
        R"({"role":"user","content":"","results":[{"toolUseId":"tu_1","name":"look","ok":false,)"
        R"("text":"dark"}]})"}) {
    auto message = parse_input_message(json::parse(text).value(), "", Origin::journal);
    ASSERT_TRUE(message);
    EXPECT_EQ(json::write(to_input_json(*message, Origin::journal)), text);
  }
}

TEST(Message, CallerCannotSendCalls) {
  auto body = json::parse(R"({"role":"user","content":"a","results":[{"toolUseId":"tu_1"}]})");
  auto message = parse_input_message(*body, "", Origin::wire);
  ASSERT_TRUE(message);
  EXPECT_EQ(json::write(to_input_json(*message, Origin::journal)),
            R"({"role":"user","content":"a"})");
}

TEST(HistoryEntry, ReadsBackWithItsSteps) {
  std::string_view text =
      R"({"role":"assistant","content":"It is one.","steps":[{"role":"assistant","content":"",)"
      R"("calls":[{"toolUseId":"tu_1","name":"look","arguments":"{}"}]},{"role":"user",)"
      R"("content":"","results":[{"toolUseId":"tu_1","name":"look","text":"one"}]}]})";
  auto entry = parse_history_entry(text);
  ASSERT_TRUE(entry) << entry.error().describe();
  EXPECT_EQ(to_history_entry(*entry), text);
}

TEST(HistoryEntry, CallWithoutAResultIsDamage) {
  auto entry = parse_history_entry(
      R"({"role":"assistant","content":"","steps":[{"role":"assistant","content":"",)"
      R"("calls":[{"toolUseId":"tu_1","name":"look","arguments":"{}"}]}]})");
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code(), ErrorCode::internal);
}

TEST(Message, IsSentWithTheBytesOfItsFiles) {
  std::string_view text =
      R"({"role":"user","content":"c","attachments":[{"type":"input_file","filename":"a.png",)"
      R"("mimeType":"image/png","data":"Zm9v"}]})";
  auto message = parse_input_message(json::parse(text).value(), "", Origin::wire);
  ASSERT_TRUE(message);
  EXPECT_EQ(json::write(to_input_json(*message, Origin::wire)), text);
}

TEST(ToolDecl, ReadsBack) {
  for (std::string_view text :
       {R"({"name":"t","description":"d","inputSchema":{"type":"object"},"site":"client",)"
        R"("annotations":{"readOnly":true,"idempotent":false,"parallelSafe":true,)"
        R"("longRunning":false}})",
        R"({"name":"t","description":"","inputSchema":{},"site":"host",)"
        R"("annotations":{"readOnly":false,"idempotent":true,"parallelSafe":false,)"
        R"("longRunning":true}})"}) {
    auto tool = parse_tool_decl(json::parse(text).value(), "/t");
    ASSERT_TRUE(tool);
    EXPECT_EQ(json::write(to_json(*tool)), text);
  }
}

TEST(ToolDecl, MistakesNameTheirPlace) {
  auto refusal = [](std::string_view text) {
    return parse_tool_decl(json::parse(text).value(), "/t").error().describe();
  };
  EXPECT_EQ(refusal(R"({"annotations":{}})"),
            "\"name\" is missing: expected a string (at /t/name)");
  EXPECT_EQ(refusal(R"({"name":"t"})"),
            "\"annotations\" is missing: expected a value (at /t/annotations)");
  EXPECT_EQ(refusal(R"({"name":"t","site":"moon","annotations":{}})"),
            "expected one of \"client\", \"host\", \"nowhere\", got \"moon\" (at /t/site)");
  EXPECT_EQ(refusal(R"({"name":"t","annotations":{"readOnly":1}})"),
            "expected true or false, got an integer (at /t/annotations/readOnly)");
}

TEST(ToolDecl, AToolNameIsOfLettersDigitsAndUnderscores) {
  EXPECT_TRUE(is_valid_tool_name("Read_file_2"));
  EXPECT_TRUE(is_valid_tool_name(std::string(64, 'a')));
  EXPECT_FALSE(is_valid_tool_name(std::string(65, 'a')));
  for (std::string_view name : {"", "a-b", "a.b", "a b", "\xC3\xA9", "a\n"}) {
    EXPECT_FALSE(is_valid_tool_name(name)) << name;
  }
}

}  // namespace
}  // namespace errand::words_test

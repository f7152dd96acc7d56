#include "sdk/bridge/run_request.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::sdk::run_request_test {
namespace {

std::string body_of(const v1::RunOptions& options) {
  auto request = read_request(options);
  return request ? json::write(request->body) : request.error().describe();
}

// The checklist of the protocol for clients: what a caller gives is passed on unchanged.
TEST(RunRequest, EveryOptionIsPassedOnUnchanged) {
  v1::RunOptions options{
      .prompt = "Go.",
      .system_prompt = "You help.",
      .model = "fast",
      .server_tools = {v1::Json::object({{"kind", "mantyx_plugin"}, {"name", "web-fetch"}})},
      .reasoning_level = "high",
      .loop_detection = v1::LoopDetection{.consecutive_threshold = 4},
      .tool_budgets = {{{"search", 3}}},
      .output =
          v1::OutputSchema{
              .schema = v1::Json::object({{"type", "object"}}), .name = "report", .strict = true},
      .metadata = {{"team", "a"}},
      .name = "nightly",
      .max_tool_turns = 5,
      .tool_timeout = std::chrono::seconds(9)};
  EXPECT_EQ(body_of(options),
            R"({"prompt":"Go.","reasoningLevel":"high","loopDetection":{"consecutiveThreshold":4},)"
            R"("toolBudgets":{"search":{"maxCalls":3}},)"
            R"("budgets":{"maxToolTurns":5,"localToolTimeoutMs":9000},)"
            R"("systemPrompt":"You help.","modelId":"fast","name":"nightly",)"
            R"("outputSchema":{"name":"report","schema":{"type":"object"},"enforcement":"strict"},)"
            R"("metadata":{"team":"a"},"tools":[{"kind":"mantyx_plugin","name":"web-fetch"}]})");
}

TEST(RunRequest, WhatIsLeftOutIsNotSent) {
  EXPECT_EQ(body_of({.prompt = "Go."}), R"({"prompt":"Go."})");
}

TEST(RunRequest, ALevelMayBeANumberAndGuardsMayBeOff) {
  v1::RunOptions options{.prompt = "Go.",
                         .reasoning_level = 0,
                         .loop_detection = v1::LoopDetection{.enabled = false},
                         .tool_budgets = std::map<std::string, int>()};
  EXPECT_EQ(body_of(options),
            R"({"prompt":"Go.","reasoningLevel":0,"loopDetection":false,"toolBudgets":{}})");
}

TEST(RunRequest, MessagesCarryTheirAttachments) {
  v1::RunOptions options{
      .messages = {{.role = v1::Role::assistant, .text = "Hello."},
                   {.text = "Look.",
                    .attachments = {
                        v1::FileContent{"abc", "text/plain", "a.txt"},
                        v1::LinkContent{.url = "https://e.org/b.png", .mime_type = "image/png"}}}}};
  EXPECT_EQ(body_of(options),
            R"({"messages":[{"role":"assistant","content":"Hello."},{"role":"user",)"
            R"("content":"Look.","attachments":[{"type":"input_file","filename":"a.txt",)"
            R"("mimeType":"text/plain","data":"YWJj"},{"type":"input_file_url",)"
            R"("url":"https://e.org/b.png","mimeType":"image/png"}]}]})");
}

TEST(RunRequest, MistakesAreFoundHere) {
  EXPECT_TRUE(body_of({}).find("prompt") != std::string::npos);
  EXPECT_TRUE(body_of({.prompt = "Go.", .reasoning_level = 101}).find("/reasoningLevel") !=
              std::string::npos);
  EXPECT_EQ(body_of({.messages = {{.text = "Go."}}, .fork_of = v1::ForkPoint{"run_1"}}),
            "a fork continues with the existing messages: give a prompt (at /messages)");
}

TEST(RunRequest, AForkChangesOnlyWhatIsGiven) {
  v1::RunOptions options{.prompt = "And?", .fork_of = v1::ForkPoint{"run_1", 7}};
  auto request = read_request(options);
  EXPECT_EQ(forked_run(*options.fork_of)->view(), "run_1");
  EXPECT_EQ(json::write(to_json(fork_params(std::move(*request), *options.fork_of))),
            R"({"fromSeq":7,"prompt":"And?"})");
}

}  // namespace
}  // namespace errand::sdk::run_request_test

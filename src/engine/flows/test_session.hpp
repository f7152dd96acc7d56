#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/flows/test_run.hpp"
#include "run/log/session_message.hpp"

namespace errand::engine::testing {

using Lines = std::vector<std::string>;

// A session and its disk.
struct SessionTest : ::testing::Test {
  Disk disk;
  SessionId session;

  SessionId begin(World& world, Spec spec = spec_with_tools({})) {
    spec.prompt = "";
    auto made = world.result_of(world.engine.create_session(someone(), {.spec = spec}, {}));
    EXPECT_TRUE(made) << made.error().describe();
    session = *made;
    return session;
  }

  static SessionMessage saying(std::string text) {
    SessionMessage message;
    message.said.prompt = std::move(text);
    return message;
  }
  Result<RunId> send(World& world, SessionMessage message) {
    return world.result_of(world.engine.send(someone(), session, std::move(message), {}));
  }
  Result<RunId> send(World& world, std::string text) {
    return send(world, saying(std::move(text)));
  }

  // "user: Hi" and the like.
  std::vector<std::string> history(World& world) {
    auto entries =
        world.result_of(world.engine.session_history(someone(), session, 0, INT64_MAX, SIZE_MAX));
    std::vector<std::string> lines;
    for (const SessionEntry& entry : *entries) {
      auto kept = parse_history_entry(entry.body);
      for (const Message& step : kept->steps) {
        for (const ToolCallPart& call : step.calls) {
          lines.push_back(cat("call: ", call.name, " ", call.arguments));
        }
        for (const ToolResultPart& result : step.results) {
          lines.push_back(cat(result.ok ? "result: " : "failure: ", result.text));
        }
      }
      lines.push_back(cat(to_string(kept->message.role), ": ", kept->message.text));
    }
    return lines;
  }
  std::string status(World& world, const RunId& run) {
    return std::string(to_string(world.result_of(world.engine.get(someone(), run))->row.status));
  }
  std::vector<std::string> statuses(World& world, const std::vector<RunId>& runs) {
    std::vector<std::string> all;
    for (const RunId& run : runs) all.push_back(status(world, run));
    return all;
  }
  void check() { EXPECT_EQ(findings_of(disk), std::vector<std::string>()); }
};

}  // namespace errand::engine::testing

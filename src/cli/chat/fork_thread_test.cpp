#include "cli/chat/fork_thread.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "sdk/test_api.hpp"
#include "support/run_task.hpp"

namespace errand::cli::fork_thread_test {
namespace {

const RunId kFirst = *RunId::parse("run_1");
const RunId kLast = *RunId::parse("run_7");

// Tells what it was asked for.
class ForkApi final : public sdk::NoApi {
 public:
  Task<Result<RunId>> fork(RunId run, ForkParams params, std::string, sdk::BodyPtr) override {
    asked = cat(run.view(), " ", json::write(to_json(params)));
    co_return kLast;
  }

  std::string asked;
};

class ForkThreadTest : public testing::Test {
 protected:
  std::string say(ForkThread& thread, std::string message) {
    EXPECT_TRUE(run_task(io_, thread.say(std::move(message))));
    return api_.asked;
  }

  asio::io_context io_;
  ForkApi api_;
};

TEST_F(ForkThreadTest, EveryMessageIsAForkOfTheRunBefore) {
  ForkThread thread(api_, "chat_1",
                    {.system_prompt = "Be kind.", .tools = share_tools({PluginTool{"t"}})}, kFirst);
  EXPECT_EQ(say(thread, "And?"),
            R"(run_1 {"systemPrompt":"Be kind.","prompt":"And?","tools":[{"kind":)"
            R"("mantyx_plugin","name":"t"}]})");
  thread.go_on_from(kLast);
  EXPECT_EQ(say(thread, "Or?").substr(0, 6), "run_7 ");
}

TEST_F(ForkThreadTest, AForkHasNoToolsThatNobodyHereAnswersFor) {
  ForkThread thread(api_, "chat_1", {}, kFirst);
  thread.choose_model("fast");
  EXPECT_EQ(say(thread, "And?"), R"(run_1 {"modelId":"fast","prompt":"And?","tools":[]})");
}

}  // namespace
}  // namespace errand::cli::fork_thread_test

#include "cli/chat/chat_thread.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "sdk/test_api.hpp"
#include "support/run_task.hpp"

namespace errand::cli {
namespace {

const RunId kFirst = *RunId::parse("run_1");
const RunId kLast = *RunId::parse("run_7");

// Tells what it was asked for, and knows the runs of one chat.
class ChatApi final : public sdk::NoApi {
 public:
  Task<Result<RunId>> create(Spec spec) override {
    asked = json::write(to_json(spec));
    co_return kFirst;
  }
  Task<Result<RunId>> fork(RunId run, ForkParams params) override {
    asked = cat(run.view(), " ", json::write(to_json(params)));
    co_return kLast;
  }
  Task<Result<sdk::RunPage>> list(sdk::RunQuery query) override {
    const auto& [key, value] = query.metadata.at(0);
    sdk::RunPage page;
    bool is_there = value == "chat" || value == "chat_9";
    if (is_there) page.runs = {{.id = kLast, .metadata = {{"errand.chat", "chat_9"}}}};
    asked = cat(query.limit, " ", key, " ", value);
    co_return page;
  }
  Task<Result<sdk::RunInfo>> get(RunId run) override {
    co_return sdk::RunInfo{.id = run, .status = RunStatus::running};
  }

  std::string asked;
};

class ChatThreadTest : public testing::Test {
 protected:
  std::string say(ChatThread& thread, std::string message) {
    EXPECT_TRUE(run_task(io_, thread.say(std::move(message))));
    return api_.asked;
  }
  std::string resume(ChatThread& thread, std::string id) {
    auto run = run_task(io_, thread.resume(std::move(id)));
    return run ? cat(run->id.view(), " ", to_string(run->status)) : run.error().message();
  }

  asio::io_context io_;
  ChatApi api_;
};

TEST_F(ChatThreadTest, TheFirstMessageIsARunAndTheOthersAreForks) {
  ChatThread thread(api_, "chat_1",
                    {.system_prompt = "Be kind.", .tools = share_tools({PluginTool{"t"}})});
  EXPECT_EQ(say(thread, "Hi"),
            R"({"systemPrompt":"Be kind.","prompt":"Hi","tools":[{"kind":"mantyx_plugin",)"
            R"("name":"t"}],"metadata":{"errand.command":"chat","errand.chat":"chat_1"}})");
  thread.go_on_from(kFirst);
  EXPECT_EQ(say(thread, "And?"),
            R"(run_1 {"systemPrompt":"Be kind.","prompt":"And?","tools":[{"kind":)"
            R"("mantyx_plugin","name":"t"}]})");
}

TEST_F(ChatThreadTest, AForkHasNoToolsThatNobodyHereAnswersFor) {
  ChatThread thread(api_, "chat_1", {});
  thread.go_on_from(kFirst);
  thread.choose_model("fast");
  EXPECT_EQ(say(thread, "And?"), R"(run_1 {"modelId":"fast","prompt":"And?","tools":[]})");
}

TEST_F(ChatThreadTest, AChatIsFoundByWhatItsRunsCarry) {
  ChatThread latest(api_, "chat_1", {});
  EXPECT_EQ(resume(latest, ""), "run_7 running");
  EXPECT_EQ(api_.asked, "1 errand.command chat");
  EXPECT_EQ(latest.id(), "chat_9");
  EXPECT_EQ(latest.last_run(), kLast);
  ChatThread named(api_, "chat_1", {});
  EXPECT_EQ(resume(named, "chat_9"), "run_7 running");
  EXPECT_EQ(api_.asked, "1 errand.chat chat_9");
  EXPECT_EQ(resume(named, "chat_2"), "there is no chat \"chat_2\" here");
  EXPECT_EQ(named.id(), "chat_9");
}

}  // namespace
}  // namespace errand::cli

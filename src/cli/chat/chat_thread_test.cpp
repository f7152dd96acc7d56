#include "cli/chat/chat_thread.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <map>
#include <optional>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "support/run_task.hpp"

namespace errand::cli {
namespace {

// An API that knows a few answers.
class CannedApi final : public sdk::ApiClient {
 public:
  Task<Result<json::Value>> send(sdk::ApiRequest request) override {
    auto found = answers.find(request.path);
    if (found == answers.end()) co_return Error(ErrorCode::not_found, request.path);
    co_return json::parse(found->second);
  }
  Task<Result<std::unique_ptr<net::ClientStream>>> open_stream(std::string, EventSeq,
                                                               seconds) override {
    co_return Error(ErrorCode::unsupported, "no streams");
  }

  std::map<std::string, std::string> answers;
};

std::string shown(const sdk::ApiRequest& request) {
  return cat(request.path, " ", request.body);
}

class ChatThreadTest : public testing::Test {
 protected:
  std::string resume(ChatThread& thread, const std::string& id) {
    auto run = run_task(io_, thread.resume(id));
    return run ? json::write(*run) : run.error().message();
  }

  asio::io_context io_;
  CannedApi api_;
};

TEST_F(ChatThreadTest, TheFirstMessageIsARunAndTheOthersAreForks) {
  ChatThread thread(api_, "chat_1", {{"tools", json::Array{"t"}}});
  EXPECT_EQ(shown(thread.say("Hi")),
            R"(/agent-runs {"tools":["t"],"metadata":{"errand.command":"chat",)"
            R"("errand.chat":"chat_1"},"prompt":"Hi"})");
  thread.go_on_from("run_1");
  EXPECT_EQ(shown(thread.say("And?")), R"(/agent-runs/run_1/fork {"tools":["t"],"prompt":"And?"})");
}

TEST_F(ChatThreadTest, AForkHasNoToolsThatNobodyHereAnswersFor) {
  ChatThread thread(api_, "chat_1", {});
  thread.go_on_from("run_1");
  thread.choose_model("fast");
  EXPECT_EQ(shown(thread.say("And?")),
            R"(/agent-runs/run_1/fork {"modelId":"fast","tools":[],"prompt":"And?"})");
}

TEST_F(ChatThreadTest, AChatIsFoundByWhatItsRunsCarry) {
  std::string runs = R"({"runs":[{"runId":"run_7","metadata":{"errand.chat":"chat_9"}}]})";
  api_.answers = {{"/agent-runs?limit=1&metadata=errand.command%3Achat", runs},
                  {"/agent-runs?limit=1&metadata=errand.chat%3Achat_9", runs},
                  {"/agent-runs?limit=1&metadata=errand.chat%3Achat_2", R"({"runs":[]})"},
                  {"/agent-runs/run_7", R"({"status":"running"})"}};
  ChatThread latest(api_, "chat_1", {});
  EXPECT_EQ(resume(latest, ""), R"({"status":"running"})");
  EXPECT_EQ(latest.id(), "chat_9");
  EXPECT_EQ(latest.last_run(), "run_7");
  ChatThread named(api_, "chat_1", {});
  EXPECT_EQ(resume(named, "chat_9"), R"({"status":"running"})");
  EXPECT_EQ(resume(named, "chat_2"), "there is no chat \"chat_2\" here");
  EXPECT_EQ(named.id(), "chat_9");
}

TEST(HasEnded, IsSoInTheLastStatesOnly) {
  auto is_over = [](const char* status) { return has_ended(json::Object{{"status", status}}); };
  EXPECT_TRUE(is_over("succeeded") && is_over("failed") && is_over("cancelled"));
  EXPECT_FALSE(is_over("queued") || is_over("running") || is_over(""));
}

}  // namespace
}  // namespace errand::cli

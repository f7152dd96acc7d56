// Errors of a server, events of a run, and where credentials come from.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/text.hpp"
#include "cli/show/event_printer.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "sdk/credentials.hpp"
#include "sdk/http/http_answers.hpp"
#include "sdk/run_end.hpp"

namespace errand::cli::client_test {
namespace {

namespace fs = std::filesystem;

TEST(ApiErrors, CarryTheServersMessageHintAndCandidates) {
  Error error =
      sdk::error_of_answer(400, R"({"error":"invalid_model","code":"invalid_model",)"
                                R"("message":"no model is called x","hint":"use one of these",)"
                                R"("candidates":["a","b"],"pointer":"/modelId"})");
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.reason(), "invalid_model");
  EXPECT_EQ(sdk::error_of_answer(404, R"({"code":"not_found"})").reason(), "");
  EXPECT_EQ(describe_for_people(error),
            "errand: no model is called x (at /modelId)\nhint: use one of these: a, b\n");
}

TEST(ApiErrors, AreReadableWithoutABodyOfOurs) {
  EXPECT_EQ(sdk::error_of_answer(502, "<html>bad gateway</html>").message(),
            "the server answered with HTTP status 502");
  EXPECT_EQ(sdk::error_of_answer(404, R"({"error":"Not here"})").message(), "Not here");
  EXPECT_EQ(sdk::error_of_answer(400, R"({"error":7,"message":null})").message(),
            "the server answered with HTTP status 400");
}

TEST(ApiErrors, CannotMoveTheCursor) {
  Error error = sdk::error_of_answer(400, R"({"message":"a\u001b[2Jb","hint":"c\u009bd"})");
  EXPECT_EQ(describe_for_people(error), "errand: a\\x1b[2Jb\nhint: c\\x9bd\n");
}

TEST(ApiErrors, HaveTheirExitCodes) {
  EXPECT_EQ(exit_code_of(sdk::error_of_answer(401, "")), kExitUnreachable);
  EXPECT_EQ(exit_code_of(sdk::error_of_answer(403, "")), kExitUnreachable);
  EXPECT_EQ(exit_code_of(sdk::error_of_answer(403, R"({"message":"m","pointer":"/agentId"})")),
            kExitFailed);
  EXPECT_EQ(exit_code_of(sdk::error_of_answer(400, "")), kExitFailed);
  EXPECT_EQ(exit_code_of(sdk::error_of_answer(404, "")), kExitFailed);
  EXPECT_EQ(exit_code_of(sdk::error_of_answer(503, "")), kExitFailed);
}

TEST(ApiErrors, TellWhatIsWorthRetrying) {
  EXPECT_TRUE(sdk::is_worth_retrying(sdk::error_of_answer(500, "")));
  EXPECT_TRUE(sdk::is_worth_retrying(sdk::error_of_answer(503, "")));
  EXPECT_TRUE(sdk::is_worth_retrying(sdk::error_of_answer(429, "")));
  EXPECT_FALSE(sdk::is_worth_retrying(sdk::error_of_answer(400, "")));
  EXPECT_FALSE(sdk::is_worth_retrying(sdk::error_of_answer(401, "")));
  EXPECT_FALSE(sdk::is_worth_retrying(sdk::error_of_answer(404, "")));
}

TEST(ApiClient, SaysThatNobodyAnswers) {
  auto answer =
      sdk::make_client({.url = "http://127.0.0.1:1", .key = "k"})->ask({.path = "/models"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(exit_code_of(answer.error()), kExitUnreachable);
  EXPECT_EQ(describe_for_people(answer.error()),
            "errand: cannot connect to 127.0.0.1:1: Connection refused\n"
            "hint: is the server at http://127.0.0.1:1 running? 'errand serve' starts one, "
            "--server URL names another\n");
}

TEST(ApiEvents, LoseTheNestedCopyAndKeepTheOrder) {
  auto event = sdk::event_of_frame(
      R"({"seq":3,"type":"assistant_delta","text":"a","data":{"text":"a"},"z":1})");
  EXPECT_EQ(
      make_printer(Form::json, {})->show(*event, {}),
      (Pieces{{.text = "{\"seq\":3,\"type\":\"assistant_delta\",\"text\":\"a\",\"z\":1}\n"}}));
}

TEST(ApiEvents, AreRefusedIfTheyAreNone) {
  auto why = [](std::string_view data) { return sdk::event_of_frame(data).error().message(); };
  EXPECT_EQ(why("not json"), "the server sent an event that is not a JSON object");
  EXPECT_EQ(why("[]"), "the server sent an event that is not a JSON object");
  EXPECT_EQ(why(R"({"type":"x"})"), "the server sent an invalid event: an event has no number");
}

const RunTotals kTotals{.usage = {.input_tokens = 10, .cached_tokens = 4, .output_tokens = 3},
                        .turns = 2,
                        .model = {.id = "fast", .provider = "p", .vendor_model_id = "v"}};

TEST(RunEnd, TellsWhatARunTook) {
  auto end = sdk::end_of(ErrorEvent{.message = "busy", .totals = kTotals});
  EXPECT_EQ(end->totals.usage, kTotals.usage);
  EXPECT_EQ(end->totals.turns, 2);
  EXPECT_EQ(end->totals.model, kTotals.model);
}

TEST(RunEnd, TellsHowARunEnded) {
  using Kind = sdk::RunEnd::Kind;
  using End = std::pair<Kind, std::string>;
  auto end = [](const Event& event) {
    auto found = sdk::end_of(event);
    return found ? End(found->kind, found->message) : End(Kind::succeeded, "none");
  };
  EXPECT_EQ(end(AssistantDelta()), End(Kind::succeeded, "none"));
  EXPECT_EQ(end(UnknownEvent()), End(Kind::succeeded, "none"));
  EXPECT_EQ(end(ResultEvent{.subtype = "success"}), End(Kind::succeeded, ""));
  EXPECT_EQ(end(ResultEvent{.subtype = "error_x", .text = "too many"}),
            End(Kind::failed, "the run failed: too many (error_x)"));
  EXPECT_EQ(end(ErrorEvent{.message = "", .error_class = "overloaded"}),
            End(Kind::failed, "the run failed: no reason was given (overloaded)"));
  EXPECT_EQ(end(CancelledEvent()), End(Kind::cancelled, "the run was cancelled"));
}

class FindServerTest : public testing::Test {
 protected:
  FindServerTest() {
    std::string pattern = (fs::temp_directory_path() / "errand-server-XXXXXX").string();
    data_ = ::mkdtemp(pattern.data());
  }
  ~FindServerTest() override { fs::remove_all(data_); }

  void keep(sdk::Credentials credentials) {
    ASSERT_TRUE(sdk::write_credentials(sdk::credentials_file(data_), credentials));
  }
  std::string find(sdk::ServerFlags flags, const char* environment_key = nullptr) {
    flags.data = data_;
    auto server = sdk::find_server(
        flags,
        [&](const std::string& name) -> std::optional<std::string> {
          if (name != "ERRAND_API_KEY" || !environment_key) return {};
          return environment_key;
        },
        data_);
    if (!server) return server.error().message();
    return cat(server->url, " ", server->workspace, " ", server->key);
  }

  fs::path data_;
};

TEST_F(FindServerTest, FlagsComeBeforeTheEnvironmentBeforeTheFile) {
  keep({.url = "http://127.0.0.1:7300", .workspace = "file", .key = "file-key"});
  EXPECT_EQ(find({}), "http://127.0.0.1:7300 file file-key");
  EXPECT_EQ(find({}, "env-key"), "http://127.0.0.1:7300 file env-key");
  EXPECT_EQ(find({.key = "flag-key", .workspace = "flag"}, "env-key"),
            "http://127.0.0.1:7300 flag flag-key");
}

TEST_F(FindServerTest, TheKeyOfTheFileGoesToItsOwnServerOnly) {
  keep({.url = "http://127.0.0.1:7300", .workspace = "file", .key = "file-key"});
  EXPECT_EQ(find({.server = "http://127.0.0.1:7300/"}), "http://127.0.0.1:7300 file file-key");
  EXPECT_EQ(find({.server = "http://127.0.0.1:7301"}),
            "no key for the server http://127.0.0.1:7301");
  EXPECT_EQ(find({.server = "http://127.0.0.1:7301"}, "k"), "http://127.0.0.1:7301 default k");
}

TEST_F(FindServerTest, SaysWhatIsMissingOrWrong) {
  EXPECT_EQ(find({}), cat("no server: there is no file ", (data_ / "credentials").string()));
  EXPECT_EQ(find({.server = "ftp://x", .key = "k"}),
            "--server ftp://x: URLs with ftp:// are not supported, only http:// and https://");
}

}  // namespace
}  // namespace errand::cli::client_test

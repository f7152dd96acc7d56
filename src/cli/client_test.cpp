// Errors of a server, events of a run, and where credentials come from.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/text.hpp"
#include "cli/show/event_printer.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "cli/terminal/table.hpp"
#include "sdk/api_client.hpp"
#include "sdk/credentials.hpp"
#include "sdk/run_event.hpp"

namespace errand::cli {
namespace {

namespace fs = std::filesystem;

TEST(ApiErrors, CarryTheServersMessageHintAndCandidates) {
  Error error =
      sdk::error_of_answer(400, R"({"error":"invalid_model","code":"invalid_model",)"
                                R"("message":"no model is called x","hint":"use one of these",)"
                                R"("candidates":["a","b"],"pointer":"/modelId"})");
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.reason(), "invalid_model");
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
  auto answer = ask({.url = "http://127.0.0.1:1", .key = "k"}, {.path = "/models"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(exit_code_of(answer.error()), kExitUnreachable);
  EXPECT_EQ(describe_for_people(answer.error()),
            "errand: cannot connect to 127.0.0.1:1: Connection refused\n"
            "hint: is the server at http://127.0.0.1:1 running? 'errand serve' starts one, "
            "--server URL names another\n");
}

sdk::RunEvent event(std::string type, std::string data) {
  return *sdk::parse_run_event({.type = std::move(type), .data = std::move(data), .id = {}});
}

TEST(RunEvent, LosesTheNestedCopyAndKeepsTheOrder) {
  sdk::RunEvent delta =
      event("assistant_delta",
            R"({"seq":3,"type":"assistant_delta","text":"a","data":{"text":"a"},"z":1})");
  EXPECT_EQ(
      make_printer(Form::json, {})->show(delta, {}),
      (Pieces{{.text = "{\"seq\":3,\"type\":\"assistant_delta\",\"text\":\"a\",\"z\":1}\n"}}));
}

TEST(RunEvent, RefusesWhatIsNone) {
  EXPECT_FALSE(sdk::parse_run_event({.type = "x", .data = "not json", .id = {}}));
  EXPECT_FALSE(sdk::parse_run_event({.type = "x", .data = "[]", .id = {}}));
  EXPECT_FALSE(sdk::parse_run_event({.type = "x", .data = R"({"text":"no seq"})", .id = {}}));
}

TEST(RunEvent, TellsWhatARunTook) {
  auto end = sdk::end_of(
      event("error", R"({"seq":1,"error":"busy","turns":2,"model":{"id":"fast","provider":"p"},)"
                     R"("tokens":{"inputTokens":10,"cachedTokens":4,"outputTokens":3}})"));
  EXPECT_EQ(end,
            (sdk::RunEnd{.kind = sdk::RunEnd::Kind::failed,
                         .message = "the run failed: busy",
                         .model = "fast",
                         .turns = 2,
                         .usage = {.input_tokens = 10, .cached_tokens = 4, .output_tokens = 3}}));
}

TEST(RunEvent, TellsHowARunEnded) {
  using Kind = sdk::RunEnd::Kind;
  EXPECT_EQ(sdk::end_of(event("assistant_delta", R"({"seq":1})")), std::nullopt);
  EXPECT_EQ(sdk::end_of(event("result", R"({"seq":1,"subtype":"success"})")), sdk::RunEnd());
  EXPECT_EQ(sdk::end_of(event("result", R"({"seq":1,"subtype":"error_x","error":"too many"})")),
            (sdk::RunEnd{.kind = Kind::failed, .message = "the run failed: too many (error_x)"}));
  EXPECT_EQ(sdk::end_of(event("error", R"({"seq":1,"error":"busy","errorClass":"overloaded"})")),
            (sdk::RunEnd{.kind = Kind::failed, .message = "the run failed: busy (overloaded)"}));
  EXPECT_EQ(sdk::end_of(event("cancelled", R"({"seq":1})")),
            (sdk::RunEnd{.kind = Kind::cancelled, .message = "the run was cancelled"}));
}

TEST(Table, AlignsColumnsByCharacters) {
  EXPECT_EQ(render_table({{"A", "B"}, {"世界", "x"}, {"", "\x1b"}}), "A   B\n世界  x\n-   \\x1b\n");
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
    auto server = sdk::find_server(flags, environment_key);
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
}  // namespace errand::cli

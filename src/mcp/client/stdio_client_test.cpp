#include <gtest/gtest.h>

#include <map>
#include <string>

#include "mcp/client/test_fake_server.hpp"
#include "support/kept_span_notes.hpp"

namespace errand::mcp::test::stdio_client_test {
namespace {

// A server as a shell script. `on_call` is what it does for tools/call, with the id in $id.
std::string script(std::string_view on_discover, std::string_view on_call) {
  return cat(R"(echo "Server started"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *server/discover*) )",
             on_discover, R"( ;;
    *'"initialize"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25",' $id
      echo '"capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}' ;;
    *tools/call*) )",
             on_call, R"( ;;
  esac
done
)");
}

constexpr std::string_view kUnknown =
    R"(echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"?"}}')";
constexpr std::string_view kHi =
    R"(echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[{"type":"text","text":"hi"}]}}')";

class StdioClientTest : public ClientTest {
 protected:
  ServerAddress address() override {
    return StdioServer{.command = {"sh", "-c", script_}, .environment = {"PATH=/usr/bin:/bin"}};
  }

  std::string script_ = script(kUnknown, kHi);
};

TEST_F(StdioClientTest, AProgramIsSpokenToInLines) {
  EXPECT_EQ(shown(call()), "ok: hi");
}

TEST_F(StdioClientTest, TheSpanOfACallNamesThePipe) {
  KeptSpanNotes span;
  EXPECT_EQ(shown(call({.span = &span})), "ok: hi");
  const std::map<std::string, std::string> wanted{{"mcp.method.name", "tools/call"},
                                                  {"mcp.protocol.version", "2025-11-25"},
                                                  {"network.transport", "pipe"}};
  EXPECT_EQ(span.notes, wanted);
}

TEST_F(StdioClientTest, AProgramThatEndsOverTheNewQuestionIsStartedAgain) {
  script_ = script("exit 3", kHi);
  EXPECT_EQ(shown(call()), "ok: hi");
}

TEST_F(StdioClientTest, AProgramThatEndsDuringACallIsStartedAgainForTheNext) {
  script_ = script(kUnknown, "echo broken >&2; exit 3");
  std::string ended =
      "outcome_unknown: no answer came: the program sh ended with exit code 3; its last words: "
      "broken";
  EXPECT_EQ(shown(call()), ended);
  EXPECT_EQ(shown(call()), ended);
}

TEST_F(StdioClientTest, AProgramThatCannotRunSaysWhy) {
  script_ = "echo 'no such module' >&2; exit 1";
  EXPECT_EQ(shown(call()),
            "unavailable: no answer came: the program sh ended with exit code 1; its last words: "
            "no such module");
}

TEST_F(StdioClientTest, AnAnswerOfAHundredMegabytesFailsItsCallAlone) {
  script_ = script(kUnknown, R"(
      if [ -z "$again" ]; then again=1
        printf '{"result":{"content":[{"type":"text","text":"'
        head -c 100000000 /dev/zero | tr '\0' x
        echo '"}]},"jsonrpc":"2.0","id":'$id'}'
      else )" + std::string(kHi) +
                                 "; fi");
  EXPECT_EQ(shown(call({.silence_max = std::chrono::minutes(5)})),
            "too_large: the answer is too large: 100000073 bytes");
  EXPECT_EQ(shown(call()), "ok: hi");
}

TEST_F(StdioClientTest, AProgramThatFloodsMeetsTheTimeOfTheCall) {
  script_ = script(kUnknown, R"(yes '{"jsonrpc":"2.0","method":"x"}')");
  EXPECT_EQ(shown(call({.silence_max = milliseconds(200)})), "timeout: no answer came in time");
}

class MissingProgramTest : public ClientTest {
 protected:
  ServerAddress address() override {
    return StdioServer{.command = {"no-such-server"}, .environment = {"PATH=/usr/bin"}};
  }
};

TEST_F(MissingProgramTest, AProgramThatIsNotThereIsNamed) {
  EXPECT_EQ(shown(call()),
            "not_found: cannot start no-such-server: PATH (/usr/bin) has no such program");
}

}  // namespace
}  // namespace errand::mcp::test::stdio_client_test

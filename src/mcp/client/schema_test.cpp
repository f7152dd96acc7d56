// Checks every message of the client against the official schemas, which lie beside the repository
// rather than in it.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "json/parse.hpp"
#include "json/schema.hpp"
#include "mcp/client/test_fake_server.hpp"

namespace errand::mcp::test::schema_test {
namespace {

namespace fs = std::filesystem;

const fs::path kSchemas = fs::path(ERRAND_SOURCE_DIR) / ".." / "shared" / "data" / "mcp-schema";

json::CompiledSchemaPtr compile(const std::string& version, std::string_view type) {
  std::ifstream file(kSchemas / (version + ".json"), std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  json::Value schema = json::parse(text).value();
  schema.as_object()["$ref"] = cat("#/$defs/", type);
  return json::compile_schema(schema).value();
}

class SchemaFeatures final : public ClientFeatures {
 public:
  ClientCapabilities offered() const override {
    return {.roots = true, .sampling = true, .elicitation = true};
  }
  Task<Result<std::vector<Root>>> roots() override {
    co_return std::vector<Root>{{.uri = "file:///a"}};
  }
};

class SchemaTest : public ClientTest {
 protected:
  explicit SchemaTest(Era era) : ClientTest(era) {}
  void SetUp() override {
    if (!fs::exists(kSchemas)) GTEST_SKIP() << "there is no " << kSchemas;
  }

  // Makes the client send everything that it can send.
  void use_everything() {
    start({}, &features_);
    server_.on_call(text_result("hi"));
    EXPECT_EQ(tools(), (Names{"one", "two"}));
    EXPECT_EQ(shown(call({.on_progress = [](const rpc::Progress&) {}})), "ok: hi");
    server_.hang_on("tools/call");
    EXPECT_FALSE(call({.silence_max = milliseconds(5)}));
  }
  void check(const std::string& version, std::size_t from) {
    auto request = compile(version, "ClientRequest");
    auto notification = compile(version, "ClientNotification");
    auto response = compile(version, "JSONRPCResultResponse");
    ASSERT_GT(server_.sent.size(), from);
    for (std::size_t i = from; i < server_.sent.size(); ++i) {
      json::Value message = json::parse(server_.sent[i]).value();
      bool has_id = message.as_object().contains("id");
      bool has_method = message.as_object().contains("method");
      const auto& schema = !has_method ? response : has_id ? request : notification;
      EXPECT_EQ(json::describe(schema->validate(message)), "") << server_.sent[i];
    }
  }

  SchemaFeatures features_;
};

class LegacySchemaTest : public SchemaTest {
 protected:
  LegacySchemaTest() : SchemaTest(Era::legacy) {}
};
class ModernSchemaTest : public SchemaTest {
 protected:
  ModernSchemaTest() : SchemaTest(Era::modern) {}
};

TEST_F(LegacySchemaTest, EveryMessageIsValid) {
  use_everything();
  EXPECT_TRUE(run_task(io_, server_.ask("roots/list", {})));
  check("2025-11-25", 1);  // the first one asks for the era
}

TEST_F(ModernSchemaTest, EveryMessageIsValid) {
  use_everything();
  check("2026-07-28", 0);
}

}  // namespace
}  // namespace errand::mcp::test::schema_test

#include "host/config_schema.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include "base/text.hpp"
#include "host/config.hpp"
#include "json/parse.hpp"
#include "json/schema.hpp"
#include "json/write.hpp"

namespace errand::host::config_schema_test {
namespace {

namespace fs = std::filesystem;

// What the schema says of a file, and what the reader does: "accepted", "refused", or that they
// differ.
class ConfigSchemaTest : public testing::Test {
 protected:
  ConfigSchemaTest() {
    std::string pattern = (fs::temp_directory_path() / "errand-schema-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::ofstream(folder_ / "turns.json") << R"({"turns":[{"text":["Hi."]}]})";
  }
  ~ConfigSchemaTest() override { fs::remove_all(folder_); }

  std::string judge(const json::Value& file) {
    std::ofstream(folder_ / "config.json") << json::write(file);
    auto no_variables = [](const std::string&) { return std::optional<std::string>(); };
    auto config = read_config(folder_ / "config.json", no_variables);
    bool fits = schema_->accepts(file);
    if (bool(config) == fits) return fits ? "accepted" : "refused";
    std::string why = config ? "takes it" : config.error().message();
    return cat("the schema ", fits ? "accepts" : "refuses", " it, and the reader: ", why);
  }
  std::string judge(std::string_view text) { return judge(json::parse(text).value()); }

  // A whole file whose `section` has this setting.
  static json::Value file_with(Section section, std::string_view key, json::Value value);

  // One setting of a section, with values that fit its description and values that do not.
  void check_setting(Section section, std::string_view key, const json::Object& described);

  fs::path folder_;
  json::CompiledSchemaPtr schema_ = json::compile_schema(config_schema()).value();
};

json::Value ConfigSchemaTest::file_with(Section section, std::string_view key, json::Value value) {
  json::Object part{{key, std::move(value)}};
  auto with = [&part](json::Object others) {
    for (const auto& member : others) {
      if (!part.contains(member.key())) part[member.key()] = member.value();
    }
    return part;
  };
  json::Object demo{{"id", "x"}, {"provider", "demo"}};
  switch (section) {
    case Section::root: return with({{"models", json::Array{demo}}});
    case Section::vendor_model:
      return json::Object{{"models", {with({{"id", "x"}, {"provider", "openai"}})}}};
    case Section::other_model:
      return json::Object{
          {"models", {with({{"id", "x"}, {"provider", "scripted"}, {"script", "turns.json"}})}}};
    case Section::pricing: demo["pricing"] = part; return json::Object{{"models", {demo}}};
    case Section::workspace: return json::Object{{"workspaces", {with({{"slug", "x"}})}}};
    case Section::mcp_server: {
      bool is_remote = key == "url" || key == "headers";
      part = with({{is_remote ? "url" : "command", is_remote ? "http://x" : "x"}});
      return json::Object{{"mcpServers", {{"m", part}}}};
    }
    case Section::limits: return json::Object{{"limits", part}};
    case Section::network: return json::Object{{"network", part}};
    case Section::rooms: return json::Object{{"rooms", part}};
    case Section::search:
      return json::Object{{"search", with({{"provider", "exa"}, {"apiKey", "k"}})}};
    case Section::telemetry: return json::Object{{"telemetry", part}};
    case Section::compatibility: return json::Object{{"compatibility", part}};
  }
  return nullptr;
}

struct Samples {
  json::Array right;
  json::Array wrong;
};

Samples samples_of(const json::Object& described) {
  if (described.contains("$ref")) return {.right = {json::Object()}, .wrong = {json::Array()}};
  if (const json::Array* types = described.at("type").if_array()) {  // something, or null
    json::Object alone = described;
    alone["type"] = types->front();
    Samples out = samples_of(alone);
    out.right.emplace_back(nullptr);
    return out;
  }
  std::string type(json::view(described.at("type").as_string()));
  if (type == "boolean") return {.right = {true, false}, .wrong = {"yes", 1}};
  if (type == "array") return {.right = {json::Array()}, .wrong = {json::Object(), "x"}};
  if (type == "object") return {.right = {json::Object()}, .wrong = {json::Array(), "x"}};
  if (type == "number") return {.right = {0, 1.5}, .wrong = {-0.5, "1"}};
  if (type == "integer") {
    std::int64_t min = described.at("minimum").to_number<std::int64_t>();
    Samples out{.right = {min, min + 1}, .wrong = {min - 1, 1.5, "1"}};
    if (!described.contains("maximum")) return out;
    std::int64_t max = described.at("maximum").to_number<std::int64_t>();
    out.right.emplace_back(max);
    if (max < std::numeric_limits<std::int64_t>::max()) out.wrong.emplace_back(max + 1);
    return out;
  }
  if (described.contains("enum")) {
    return {.right = described.at("enum").as_array(), .wrong = {"neither", 1}};
  }
  Samples out{.right = {"x"}, .wrong = {1, json::Object()}};
  if (described.contains("minLength")) out.wrong.emplace_back("");
  return out;
}

void ConfigSchemaTest::check_setting(Section section, std::string_view key,
                                     const json::Object& described) {
  Samples samples = samples_of(described);
  if (key == "script") samples.right = {"turns.json"};
  if (key == "baseUrl" || key == "url" || key == "otlp")
    samples = {.right = {"http://x", "https://x/v1"}, .wrong = {"x", 1}};
  if (key == "search") samples.right = {json::Object{{"provider", "exa"}, {"apiKey", "k"}}};
  if (key == "slug") samples.wrong = {"", "a b", std::string(40, 'a'), 1};
  for (const json::Value& value : samples.right) {
    EXPECT_EQ(judge(file_with(section, key, value)), "accepted") << key << json::write(value);
  }
  for (const json::Value& value : samples.wrong) {
    EXPECT_EQ(judge(file_with(section, key, value)), "refused") << key << json::write(value);
  }
}

struct Described {
  Section section;
  std::string_view pointer;  // of its properties in the schema
};

constexpr Described kSections[] = {
    {Section::root, "/properties"},
    {Section::vendor_model, "/$defs/model/properties"},
    {Section::other_model, "/$defs/model/properties"},
    {Section::pricing, "/$defs/pricing/properties"},
    {Section::workspace, "/$defs/workspace/properties"},
    {Section::mcp_server, "/$defs/mcpServer/properties"},
    {Section::limits, "/$defs/limits/properties"},
    {Section::network, "/$defs/network/properties"},
    {Section::rooms, "/$defs/rooms/properties"},
    {Section::telemetry, "/$defs/telemetry/properties"},
    {Section::compatibility, "/$defs/compatibility/properties"},
};

TEST_F(ConfigSchemaTest, TheReaderTakesWhatTheSchemaDescribesAndNothingElse) {
  json::Value schema = config_schema();
  for (const auto& [section, pointer] : kSections) {
    const json::Object& properties = schema.at_pointer(pointer).as_object();
    for (const std::string& key : settings_of(section)) {
      if (key == "provider" || key == "apiVersion") continue;  // see below
      check_setting(section, key, properties.at(key).as_object());
    }
    EXPECT_EQ(judge(file_with(section, "nosuch", "x")), "refused");
  }
}

TEST_F(ConfigSchemaTest, EachProviderHasItsOwnSettings) {
  for (const std::string& provider : provider_names()) {
    json::Object model{{"id", "m"}, {"provider", provider}};
    if (provider == "scripted") model["script"] = "turns.json";
    bool has_own_url = provider != "openai-compatible" && provider != "azure-openai";
    if (!has_own_url) model["baseUrl"] = "http://x";
    EXPECT_EQ(judge(json::Object{{"models", {model}}}), "accepted") << provider;
  }
  for (std::string_view version : {"2024-10-21", "2025-04-01-preview"}) {
    json::Object model{{"id", "m"},
                       {"provider", "azure-openai"},
                       {"baseUrl", "http://x"},
                       {"apiVersion", version}};
    EXPECT_EQ(judge(json::Object{{"models", {model}}}), "accepted") << version;
  }
  for (std::string_view model : {
           R"({"id":"m","provider":"nosuch"})",
           R"({"id":"m"})",
           R"({"provider":"demo"})",
           R"({"id":"m","provider":"scripted"})",
           R"({"id":"m","provider":"openai-compatible"})",
           R"({"id":"m","provider":"azure-openai"})",
           R"({"id":"m","provider":"azure-openai","baseUrl":"http://x","apiVersion":"v1"})",
           R"({"id":"m","provider":"azure-openai","baseUrl":"http://x","apiVersion":"2024-1-1"})",
           R"({"id":"m","provider":"azure-openai","baseUrl":"http://x","apiVersion":1})",
           R"({"id":"m","provider":"openai","apiVersion":"2024-10-21"})",
           R"({"id":"m","provider":"demo","apiVersion":"2024-10-21"})",
           R"({"id":"m","provider":"openai","script":"turns.json"})",
           R"({"id":"m","provider":"demo","script":"turns.json"})",
           R"({"id":"m","provider":"demo","apiKey":"k"})",
           R"({"id":"m","provider":"scripted","script":"turns.json","retries":1})",
           R"({"id":"m","provider":"anthropic","api":"chat"})",
           R"({"id":"m","provider":"google","api":"chat"})",
       }) {
    EXPECT_EQ(judge(cat(R"({"models":[)", model, "]}")), "refused") << model;
  }
}

TEST_F(ConfigSchemaTest, AnMcpServerIsAtAUrlOrAProgram) {
  for (std::string_view server :
       {R"({})", R"({"url":"http://x","command":"y"})", R"({"args":["y"]})",
        R"({"url":"http://x","env":{}})", R"({"command":"x","headers":{}})",
        R"({"command":"x","roots":["a"]})"}) {
    EXPECT_EQ(judge(cat(R"({"mcpServers":{"m":)", server, "}}")), "refused") << server;
  }
  EXPECT_EQ(judge(std::string_view(R"({"mcpServers":{"not a name":{"command":"x"}}})")), "refused");
}

TEST_F(ConfigSchemaTest, TheFoldersOfAnMcpServerAreUris) {
  json::Value file =
      json::parse(R"({"mcpServers":{"m":{"url":"http://x","roots":["/a b/../c d/"]}}})").value();
  EXPECT_EQ(judge(file), "accepted");
  auto no_variables = [](const std::string&) { return std::optional<std::string>(); };
  auto config = read_config(folder_ / "config.json", no_variables).value();
  EXPECT_EQ(config.mcp_servers.at("m").roots,
            (std::vector<mcp::Root>{{.uri = "file:///c%20d", .name = "c d"}}));
}

TEST_F(ConfigSchemaTest, VariablesOfAnMcpServerThatMayBeKeysAreNoted) {
  json::Value file =
      json::parse(R"({"mcpServers":{"m":{"command":"x","env":{"API_TOKEN":"tok-1","NODE_ENV":)"
                  R"("production","ROOT":"/srv/a/long/folder","DSN":"pg://ann:pw@host/orders"}}}})")
          .value();
  EXPECT_EQ(judge(file), "accepted");
  auto no_variables = [](const std::string&) { return std::optional<std::string>(); };
  auto config = read_config(folder_ / "config.json", no_variables).value();
  EXPECT_EQ(config.mcp_servers.at("m").secrets,
            (std::vector<std::string>{"tok-1", "pg://ann:pw@host/orders"}));
}

// The blocks of a document that hold a whole configuration file, which may begin with its name.
std::vector<std::string> examples_in(const fs::path& document) {
  std::ifstream in(document);
  std::string text(std::istreambuf_iterator<char>(in), {});
  std::vector<std::string> out;
  constexpr std::string_view kBegin = "```jsonc\n";
  for (std::size_t at = text.find(kBegin); at != std::string::npos;
       at = text.find(kBegin, at + 1)) {
    std::size_t begin = at + kBegin.size();
    if (text.compare(begin, 3, "// ") == 0) begin = text.find('\n', begin) + 1;
    if (text[begin] == '{') out.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return out;
}

TEST_F(ConfigSchemaTest, TheExamplesOfTheGuideFit) {
  for (const char* name : {"configuration.md", "models.md"}) {
    std::vector<std::string> examples =
        examples_in(fs::path(ERRAND_SOURCE_DIR) / "docs/guide" / name);
    EXPECT_FALSE(examples.empty()) << name;
    for (const std::string& example : examples) {
      json::Value file = json::parse(example, {.comments = json::Comments::allow}).value();
      EXPECT_EQ(json::describe(schema_->validate(file)), "") << example;
    }
  }
}

}  // namespace
}  // namespace errand::host::config_schema_test

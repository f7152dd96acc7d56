#include "host/config.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/text.hpp"
#include "host/discovery.hpp"

namespace errand::host::config_test {
namespace {

namespace fs = std::filesystem;

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    std::string pattern = (fs::temp_directory_path() / "errand-config-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ConfigTest() override { fs::remove_all(folder_); }

  net::Environment environment() {
    return [this](const std::string& name) -> std::optional<std::string> {
      auto found = variables_.find(name);
      if (found == variables_.end()) return {};
      return found->second;
    };
  }
  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  Result<Config> read(const std::string& text) {
    return read_config(write("config.json", text), environment());
  }
  // Why a configuration with these models is refused, without the name of the file and the place.
  std::string refusal(const std::string& models) {
    auto config = read(cat(R"({"models":[)", models, "]}"));
    if (config) return "accepted";
    std::string file = (folder_ / "config.json").string();
    std::string message = config.error().message();
    if (!message.starts_with(file)) return message;
    return message.substr(message.find(": ", file.size()) + 2);
  }
  // The ids of the models, "*" where those of an Ollama stand.
  static std::string listed(const Config& config) {
    std::string out;
    for (std::size_t i = 0; i <= config.models.size(); ++i) {
      if (config.ollama && i == config.ollama_position) append(out, "* ");
      if (i < config.models.size()) append(out, config.models[i].info.id, " ");
    }
    return out;
  }

  fs::path folder_;
  std::map<std::string, std::string> variables_;
};

TEST_F(ConfigTest, EverySettingOfAVendorsModelIsRead) {
  variables_["KEY"] = "k1";
  write("team", "blue\n");
  auto config = read(cat(R"({"models":[
    { "id": "fast", "provider": "openai", "api": "chat", "vendorModelId": "gpt-5.5",
      "baseUrl": "http://127.0.0.1:9001/v1/", "apiKey": "env:KEY",
      "headers": { "X-Team": "file:)",
                         (folder_ / "team").string(), R"(", "x-other": "b" },
      "timeoutMs": 600000, "retries": 3, "earlyStart": false, "label": "GPT 5.5",
      "contextWindowTokens": 200000, "maxOutputTokens": 8192, "images": false,
      "pricing": { "inputPer1MUsd": 3, "outputPer1MUsd": 15, "cacheReadPer1MUsd": 0.3 },
      "fallback": ["spare"] },
    { "id": "spare", "provider": "demo" }], "defaultModel": "fast" })"));
  ASSERT_TRUE(config) << config.error().message();
  const ModelConfig& model = config->models.at(0);
  EXPECT_EQ(model.info, (ModelInfo{"fast", "openai", "gpt-5.5"}));
  EXPECT_EQ(model.label, "GPT 5.5");
  EXPECT_EQ(model.context_window_tokens, 200'000);
  EXPECT_EQ(model.pricing->input_per_1m_usd, 3);
  EXPECT_EQ(model.pricing->output_per_1m_usd, 15);
  EXPECT_EQ(model.pricing->cache_read_per_1m_usd, 0.3);
  EXPECT_FALSE(model.starts_early);
  EXPECT_EQ(model.fallback, std::vector<std::string>{"spare"});
  const VendorConfig& vendor = *model.vendor;
  EXPECT_EQ(vendor.base_url, "http://127.0.0.1:9001/v1");
  EXPECT_EQ(vendor.api_key, "k1");
  EXPECT_FALSE(vendor.sees_images);
  EXPECT_EQ(vendor.headers, (llm::HeaderList{{"x-team", "blue"}, {"x-other", "b"}}));
  EXPECT_EQ(vendor.timeout, milliseconds(600'000));
  EXPECT_EQ(vendor.retries, 3);
  EXPECT_EQ(vendor.output_tokens_max, 8192);
  EXPECT_EQ(vendor.api, "chat");
}

TEST_F(ConfigTest, MistakesAreNamedWithTheirPlace) {
  write("empty", "\n");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"id":"m","provider":"bedrock"})",
       "\"bedrock\" is not a provider of this version; there are: openai, azure-openai, anthropic, "
       "google, xai, ollama, openai-compatible, demo, scripted (at /models/0/provider)"},
      {R"({"id":"m","provider":"openai","apiKey":"env:MISSING"})",
       "the environment variable MISSING is not set (at /models/0/apiKey)"},
      {R"({"id":"m","provider":"openai","apiKey":"file:/nowhere/key"})",
       "cannot read the file /nowhere/key: No such file or directory (at /models/0/apiKey)"},
      {cat(R"({"id":"m","provider":"openai","apiKey":"file:)", (folder_ / "empty").string(),
           R"("})"),
       cat("the file ", (folder_ / "empty").string(), " is empty (at /models/0/apiKey)")},
      {R"({"id":"m","provider":"openai","apiKey":""})",
       "an empty value: leave it out, or name one (at /models/0/apiKey)"},
      {R"({"id":"m","provider":"openai","headers":{"x-a":"env:MISSING"}})",
       "the environment variable MISSING is not set (at /models/0/headers/x-a)"},
      {R"({"id":"m","provider":"openai-compatible"})",
       "a model of the provider openai-compatible needs a baseUrl (at /models/0/baseUrl)"},
      {R"({"id":"m","provider":"azure-openai","apiKey":"k"})",
       "a model of the provider azure-openai needs a baseUrl (at /models/0/baseUrl)"},
      {R"({"id":"m","provider":"azure-openai","baseUrl":
           "https://a.openai.azure.com/openai/deployments/m/chat/completions"})",
       "only the address of the resource, such as https://NAME.openai.azure.com; the deployment "
       "goes into vendorModelId, the version into apiVersion (at /models/0/baseUrl)"},
      {R"({"id":"m","provider":"azure-openai","baseUrl":"http://a/?api-version=2024-10-21"})",
       "only the address of the resource, such as https://NAME.openai.azure.com; the deployment "
       "goes into vendorModelId, the version into apiVersion (at /models/0/baseUrl)"},
      {R"({"id":"m","provider":"azure-openai","baseUrl":"http://a","apiVersion":"preview"})",
       "a version is a date, such as 2024-10-21; leave it out to use Azure's v1 API "
       "(at /models/0/apiVersion)"},
      {R"({"id":"m","provider":"openai","apiVersion":"2024-10-21"})",
       "only a model of the provider azure-openai has one (at /models/0/apiVersion)"},
      {R"({"id":"m","provider":"openai","baseUrl":"api.openai.com"})",
       "the URL must begin with http:// or https:// (at /models/0/baseUrl)"},
      {R"({"id":"m","provider":"anthropic","api":"chat"})",
       "only models of the OpenAI family have one: responses or chat (at /models/0/api)"},
      {R"({"id":"m","provider":"demo","apiKey":"k"})",
       "\"apiKey\" is not a setting here; there are: id, provider, vendorModelId, label, "
       "contextWindowTokens, pricing, earlyStart, fallback, script (at /models/0/apiKey)"},
      {R"({"id":"m","provider":"openai","vendorModelID":"k"})",
       "\"vendorModelID\" is not a setting here; did you mean vendorModelId? "
       "(at /models/0/vendorModelID)"},
      {R"({"id":"m","provider":"antropic"})",
       "\"antropic\" is not a provider of this version; did you mean anthropic? "
       "(at /models/0/provider)"},
      {R"({"id":"m","provider":"demo","pricing":{"inputPer1MUsd":-1}})",
       "a price is not negative (at /models/0/pricing/inputPer1MUsd)"},
      {R"({"id":"m","provider":"demo"},{"id":"m","provider":"demo"})",
       "another model has the id \"m\" too (at /models/1/id)"},
      {R"({"id":"m","provider":"demo","fallback":["n"]})",
       "no model has the id \"n\"; there are: m (at /models/0/fallback/0)"},
      {R"({"id":"m","provider":"demo","fallback":["m"]})",
       "\"m\" falls back to \"m\" in the end: fallback models must not form a cycle "
       "(at /models/0/fallback/0)"},
      {R"({"id":"a","provider":"demo"},{"id":"b","provider":"demo","fallback":["a","c"]},
          {"id":"c","provider":"demo","fallback":["b"]})",
       "\"c\" falls back to \"b\" in the end: fallback models must not form a cycle "
       "(at /models/1/fallback/1)"},
  };
  for (const auto& [models, expected] : cases) EXPECT_EQ(refusal(models), expected);
}

TEST_F(ConfigTest, AFallbackBringsItsOwnFallbacksAndNoneIsAskedTwice) {
  auto config = read(R"({"models":[
      {"id":"a","provider":"demo","fallback":["b","c"]},
      {"id":"b","provider":"demo","fallback":["d","c"]},
      {"id":"c","provider":"demo"}, {"id":"d","provider":"demo"}]})");
  ASSERT_TRUE(config);
  EXPECT_EQ(fallback_chain(config->models, "a"), (std::vector<std::string>{"a", "b", "d", "c"}));
}

TEST_F(ConfigTest, NetworksThatToolsMayReachAreRead) {
  auto config = read(R"({"network":{"allow":["10.0.0.0/8","::1"]}})");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->networks, (std::vector{net::AddressPrefix::parse("10.0.0.0/8").value(),
                                           net::AddressPrefix::parse("::1").value()}));
  EXPECT_EQ(read(R"({"network":{}})").value().proxy_names, net::ProxyNames::judged_here);
  EXPECT_EQ(read(R"({"network":{"proxyNames":"trusted"}})").value().proxy_names,
            net::ProxyNames::left_to_proxy);
  EXPECT_TRUE(read(R"({"network":{}})").value().networks.empty());
}

TEST_F(ConfigTest, MessagesOfRoomsAreCompressedOnlyIfTheFileSaysSo) {
  EXPECT_FALSE(read("{}").value().compresses_rooms);
  EXPECT_TRUE(read(R"({"rooms":{"compression":true}})").value().compresses_rooms);
  EXPECT_FALSE(read(R"({"rooms":{"compression":"yes"}})"));
}

TEST_F(ConfigTest, WithoutModelsThoseOfTheEnvironmentAreUsedInOrder) {
  EXPECT_EQ(listed(default_config(environment()).value()), "* demo ");
  EXPECT_EQ(listed(read("{}").value()), "* demo ");
  variables_["XAI_API_KEY"] = "x";
  variables_["ANTHROPIC_API_KEY"] = "a";
  variables_["OPENAI_API_KEY"] = "  ";
  EXPECT_EQ(listed(default_config(environment()).value()),
            "anthropic/claude-sonnet-5-5 anthropic/claude-opus-5-5 anthropic/claude-haiku-5-5 "
            "xai/grok-4.6 xai/grok-4.3 * demo ");
}

TEST_F(ConfigTest, AVendorOfTheEnvironmentHasItsKeyAndItsBaseUrl) {
  variables_["GEMINI_API_KEY"] = "g";
  variables_["OPENAI_API_KEY"] = "o";
  variables_["OPENAI_BASE_URL"] = "http://127.0.0.1:9/v1/";
  DiscoveredModels found = discover_models(environment()).value();
  EXPECT_EQ(found.of_keys.at(0).info, (ModelInfo{"openai/gpt-5.5", "openai", "gpt-5.5"}));
  EXPECT_EQ(found.of_keys.at(0).vendor->base_url, "http://127.0.0.1:9/v1");
  EXPECT_EQ(found.of_keys.at(0).vendor->api_key, "o");
  EXPECT_EQ(found.of_keys.at(0).vendor->api, "responses");
  EXPECT_EQ(found.of_keys.at(2).info.provider, "google");
  EXPECT_EQ(found.of_keys.at(2).vendor->base_url, "https://generativelanguage.googleapis.com");

  variables_["OPENAI_BASE_URL"] = "localhost";
  EXPECT_EQ(discover_models(environment()).error().message(),
            "the environment variable OPENAI_BASE_URL: the URL must begin with http:// or "
            "https://");
}

TEST_F(ConfigTest, OllamaIsWhereItsOwnClientWouldLook) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "http://127.0.0.1:11434/v1"},
      {"10.0.0.5", "http://10.0.0.5:11434/v1"},
      {"gpu:8080", "http://gpu:8080/v1"},
      {":8080", "http://127.0.0.1:8080/v1"},
      {"0.0.0.0", "http://127.0.0.1:11434/v1"},
      {"0.0.0.0:8080", "http://127.0.0.1:8080/v1"},
      {"https://gpu.example.com/", "https://gpu.example.com/v1"},
      {"http://gpu:8080", "http://gpu:8080/v1"},
      {"::1", "http://[::1]:11434/v1"},
      {"[::1]:8080", "http://[::1]:8080/v1"},
  };
  for (const auto& [host, url] : cases) {
    variables_["OLLAMA_HOST"] = host;
    EXPECT_EQ(discover_models(environment()).value().ollama.base_url, url) << host;
  }
  variables_["OLLAMA_HOST"] = "gpu:many";
  EXPECT_EQ(discover_models(environment()).error().message(),
            "the environment variable OLLAMA_HOST: the URL has a bad port");
}

TEST_F(ConfigTest, AnOllamaOfTheFileBringsItsOtherModels) {
  auto config = read(R"({"models":[{"id":"m","provider":"ollama","vendorModelId":"llama3.2",
      "baseUrl":"http://gpu:1/v1"},{"id":"n","provider":"demo"}]})");
  EXPECT_EQ(listed(config.value()), "m n * ");
  EXPECT_EQ(config->ollama->base_url, "http://gpu:1/v1");
  EXPECT_EQ(listed(read(R"({"models":[{"id":"n","provider":"demo"}]})").value()), "n ");
}

}  // namespace
}  // namespace errand::host::config_test

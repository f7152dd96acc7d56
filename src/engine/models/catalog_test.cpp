#include "engine/models/catalog.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "support/run_task.hpp"

namespace errand::engine::catalog_test {
namespace {

// Is never asked.
class SilentModel final : public llm::Model {
 public:
  std::unique_ptr<llm::TurnStream> ask(llm::TurnRequest) override { return nullptr; }
};

// Lists what the test says, under ids that begin with "local/".
class ListedModels final : public ModelSource {
 public:
  explicit ListedModels(std::vector<std::string>& ids) : ids_(ids) {}

  Task<std::vector<std::string>> list() override { co_return ids_; }
  std::optional<CatalogModel> make(std::string_view id) override {
    if (!id.starts_with("local/")) return {};
    return CatalogModel{.info = {.id = std::string(id),
                                 .provider = "local",
                                 .vendor_model_id = std::string(id.substr(6))},
                        .label = "",
                        .model = std::make_shared<SilentModel>()};
  }
  bool may_be_named(std::string_view id) const override { return id.starts_with("local/any-"); }
  std::string advice(std::string_view asked) const override {
    return asked.starts_with("far/") ? "far models need a key" : "";
  }

 private:
  std::vector<std::string>& ids_;
};

CatalogModel model(std::string id, std::string provider = "p") {
  return {.info = {.id = id, .provider = std::move(provider), .vendor_model_id = cat("v-", id)}};
}

class CatalogTest : public testing::Test {
 protected:
  Catalog make(std::vector<std::string> ids, std::string default_id = "",
               std::optional<std::size_t> position = {}) {
    std::vector<CatalogModel> models;
    for (std::string& id : ids) models.push_back(model(std::move(id)));
    CatalogSource source;
    if (position) source = {std::make_unique<ListedModels>(listed_), *position};
    return {std::move(models), std::move(default_id), std::move(source)};
  }
  void refresh(Catalog& catalog) {
    asio::io_context io(1);
    run_task(io, catalog.refresh());
  }
  static std::vector<std::string> ids(const Catalog& catalog) {
    std::vector<std::string> out;
    for (const CatalogModel* model : catalog.models()) out.push_back(model->info.id);
    return out;
  }
  // The id that a name leads to, or the message with the candidates.
  static std::string resolved(Catalog& catalog, std::string_view asked) {
    auto model = catalog.resolve(asked);
    if (model) return (*model)->info.id;
    std::string out = model.error().message();
    for (const std::string& id : model.error().candidates()) append(out, " ", id);
    return out;
  }

  std::vector<std::string> listed_;
};

using Ids = std::vector<std::string>;

TEST_F(CatalogTest, AModelGoesByManyNames) {
  Catalog catalog = make({"a", "b"}, "b");
  for (auto name : {"a", "platform:a", "provider:a", "provider:a:v-a", "p:v-a", "p/v-a", "v-a"}) {
    EXPECT_EQ(resolved(catalog, name), "a") << name;
  }
  EXPECT_EQ(resolved(catalog, ""), "b");
  EXPECT_EQ(resolved(catalog, "c"), "no model is called \"c\" a b");
}

TEST_F(CatalogTest, AModelThatIsNotThereBringsTheClosestToMind) {
  constexpr std::string_view kHint =
      "use one of the candidates, or leave modelId out for the default";
  Catalog catalog = make({"fast", "faster", "deep"});
  EXPECT_EQ(catalog.resolve("fsat").error().hint(), cat("did you mean fast? ", kHint));
  EXPECT_EQ(catalog.resolve("nothing").error().hint(), kHint);
}

TEST_F(CatalogTest, FoundModelsStandWhereTheirSourceStands) {
  listed_ = {"local/x", "local/y"};
  Catalog catalog = make({"a", "demo"}, "", 1);
  EXPECT_EQ(ids(catalog), (Ids{"a", "demo"}));
  refresh(catalog);
  EXPECT_EQ(ids(catalog), (Ids{"a", "local/x", "local/y", "demo"}));
  EXPECT_EQ(catalog.default_id(), "a");
}

TEST_F(CatalogTest, TheDefaultFollowsWhatIsFound) {
  Catalog catalog = make({"demo"}, "", 0);
  EXPECT_EQ(resolved(catalog, ""), "demo");
  listed_ = {"local/x"};
  refresh(catalog);
  EXPECT_EQ(resolved(catalog, ""), "local/x");
  listed_ = {};
  refresh(catalog);
  EXPECT_EQ(resolved(catalog, ""), "demo");
}

TEST_F(CatalogTest, AModelThatIsGoneIsStillFoundByRunsThatHaveIt) {
  listed_ = {"local/x"};
  Catalog catalog = make({"demo"}, "", 0);
  refresh(catalog);
  const CatalogModel* found = *catalog.resolve("x");
  listed_ = {};
  refresh(catalog);
  EXPECT_EQ(resolved(catalog, "local/x"), "no model is called \"local/x\" demo");
  EXPECT_EQ(catalog.find("local/x"), found);
  EXPECT_EQ(catalog.find("local/never-seen")->info.vendor_model_id, "never-seen");
  EXPECT_EQ(catalog.find("elsewhere/x"), nullptr);
}

TEST_F(CatalogTest, AModelThatTheSourceDoesNotListMayBeNamed) {
  Catalog catalog = make({"demo"}, "", 0);
  EXPECT_FALSE(catalog.depends_on_source("local/any-1"));
  const CatalogModel* named = catalog.resolve("local/any-1").value();
  EXPECT_EQ(named->info, (ModelInfo{"local/any-1", "local", "any-1"}));
  EXPECT_EQ(catalog.resolve("local/any-1").value(), named);
  EXPECT_EQ(catalog.find("local/any-1"), named);
  EXPECT_EQ(ids(catalog), (Ids{"demo"}));
}

TEST_F(CatalogTest, NamesThatNoRunUsesAreForgottenForNewOnes) {
  Catalog catalog = make({"demo"}, "", 0);
  const std::shared_ptr<llm::Model> used = (*catalog.resolve("local/any-used"))->model;
  for (std::size_t i = 0; i < 2 * Catalog::kNamedMax; ++i) {
    ASSERT_TRUE(catalog.resolve(cat("local/any-", i)));
    ASSERT_TRUE(catalog.find(cat("local/of-a-run-", i)));
  }
  EXPECT_EQ((*catalog.resolve("local/any-used"))->model, used);
}

TEST_F(CatalogTest, NamesInUseAreBounded) {
  Catalog catalog = make({"demo"}, "", 0);
  std::vector<std::shared_ptr<llm::Model>> used;
  for (std::size_t i = 0; i < Catalog::kNamedMax; ++i) {
    used.push_back((*catalog.resolve(cat("local/any-", i)))->model);
  }
  EXPECT_EQ(catalog.resolve("local/any-more").error().message(),
            "1000 models that this server does not list are in use");
  EXPECT_TRUE(catalog.resolve("local/any-7"));
  used.pop_back();
  EXPECT_TRUE(catalog.resolve("local/any-more"));
}

TEST_F(CatalogTest, AModelWithAFallbackModelIsInUse) {
  Catalog catalog = make({"demo"}, "", 0);
  SystemClock clock;
  Log log(clock, STDERR_FILENO, LogFormat::text);
  auto both = catalog.find_with_fallback("local/a", "local/b", log);
  for (std::size_t i = 0; i < 2 * Catalog::kNamedMax; ++i) catalog.find(cat("local/", i));
  EXPECT_EQ(catalog.find_with_fallback("local/a", "local/b", log), both);
}

TEST_F(CatalogTest, TheSourceSaysWhatAnUnknownNameLacks) {
  Catalog catalog = make({"demo"}, "", 0);
  EXPECT_EQ(catalog.resolve("far/x").error().hint(), "far models need a key");
}

TEST_F(CatalogTest, TheSourceIsAskedOnlyWhereItMatters) {
  Catalog plain = make({"a"});
  EXPECT_FALSE(plain.depends_on_source("x"));
  Catalog behind = make({"a", "demo"}, "", 1);
  EXPECT_FALSE(behind.depends_on_source(""));
  EXPECT_FALSE(behind.depends_on_source("p/v-a"));
  EXPECT_TRUE(behind.depends_on_source("local/x"));
  Catalog first = make({"demo"}, "", 0);
  EXPECT_TRUE(first.depends_on_source(""));
  EXPECT_FALSE(first.depends_on_source("demo"));
}

}  // namespace
}  // namespace errand::engine::catalog_test

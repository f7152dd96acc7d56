// The models of a Runtime: in code, and of a configuration file.
#include <errand/runtime.hpp>
#include <errand/testing.hpp>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace errand::v1::runtime_models_test {
namespace {

// A configuration file with a model that always says the same.
class ConfigFolder final {
 public:
  ConfigFolder() {
    std::string name = testing::TempDir() + "errand-models-XXXXXX";
    path_ = ::mkdtemp(name.data());
    std::ofstream(path_ / "turns.json") << R"({"turns":[{"text":["Of the file."]}]})";
    std::ofstream(file()) << R"({"models":[{"id":"filed","provider":"scripted",
                                            "script":"turns.json"}],"defaultModel":"filed"})";
  }
  ~ConfigFolder() { std::filesystem::remove_all(path_); }
  ConfigFolder(const ConfigFolder&) = delete;
  ConfigFolder& operator=(const ConfigFolder&) = delete;

  std::string file() const { return path_ / "errand.json"; }

 private:
  std::filesystem::path path_;
};

TEST(RuntimeModels, AModelOfTheProgramGetsAttachments) {
  auto model = scripted({{.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  FileContent file{.bytes = "a,b", .mime_type = "text/csv", .name = "t.csv"};
  LinkContent link{.url = "https://e.org/x.png", .mime_type = "image/png"};
  runtime.run({.messages = {{.text = "Look.", .attachments = {file, link}}}});
  const QuestionMessage asked = model->questions().at(0).messages.at(0);
  ASSERT_EQ(asked.attachments.size(), 2U);
  EXPECT_EQ(std::get<FileContent>(asked.attachments[0]), file);
  EXPECT_EQ(std::get<LinkContent>(asked.attachments[1]).url, link.url);
}

TEST(RuntimeModels, AModelOfTheProgramIsToldTheSchemaAndItsName) {
  auto model = scripted({{.text = "{}"}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  const Json schema = Json::object({{"type", "object"}});
  runtime.run({.prompt = "Go.", .output = OutputSchema{.schema = schema, .name = "mine"}});
  const Question asked = model->questions().at(0);
  EXPECT_EQ(asked.output_schema, schema);
  EXPECT_EQ(asked.output_name, "mine");
}

TEST(RuntimeModels, AModelThatFailsFailsTheRun) {
  Runtime runtime(
      {.models = {
           {.id = "s",
            .model = scripted({{.error = Error(ErrorCode::unauthorized, "the key is gone")}})}}});
  Result<Reply> reply = runtime.try_run({.prompt = "Go."});
  EXPECT_EQ(reply.error().reason(), "run_failed");
  EXPECT_EQ(reply.error().message(), "the run failed: the key is gone (auth)");
}

TEST(RuntimeModels, AWrongConfigurationIsSaid) {
  try {
    Runtime runtime({.config = "/nowhere/errand.json"});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

// The ids of a runtime's models, the default one last.
std::vector<std::string> models_of(const Runtime& runtime) {
  ModelList list = runtime.models();
  std::vector<std::string> ids;
  for (const ModelDescription& one : list.models) ids.push_back(one.id);
  ids.push_back(list.default_id);
  return ids;
}

TEST(RuntimeModels, AModelOfTheConfigurationAnswers) {
  const ConfigFolder folder;
  Runtime runtime({.config = folder.file()});
  Reply reply = runtime.run({.prompt = "Go."});
  EXPECT_EQ(reply.text, "Of the file.");
  EXPECT_EQ(reply.model, "filed");
  EXPECT_EQ(models_of(runtime), (std::vector<std::string>{"filed", "filed"}));
}

TEST(RuntimeModels, AModelOfTheProgramIsTheDefaultBesideThoseOfTheConfiguration) {
  const ConfigFolder folder;
  auto model = scripted({{.text = "Of the program."}});
  Runtime runtime({.config = folder.file(), .models = {{.id = "own", .model = model}}});
  EXPECT_EQ(runtime.run({.prompt = "Go."}).text, "Of the program.");
  EXPECT_EQ(runtime.run({.prompt = "Go.", .model = "filed"}).text, "Of the file.");
  EXPECT_EQ(models_of(runtime), (std::vector<std::string>{"own", "filed", "own"}));
}

TEST(RuntimeModels, AModelOfTheProgramHasAnIdOfItsOwn) {
  const ConfigFolder folder;
  auto model = scripted({{.text = "Of the program."}});
  try {
    Runtime runtime({.config = folder.file(), .models = {{.id = "filed", .model = model}}});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::conflict);
    EXPECT_EQ(error.message(), "two models have the id filed");
  }
}

}  // namespace
}  // namespace errand::v1::runtime_models_test

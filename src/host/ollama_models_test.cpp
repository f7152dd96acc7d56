#include "host/ollama_models.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "async/task_group.hpp"
#include "base/text.hpp"
#include "llm/demo/demo_model.hpp"
#include "net/server/test_support.hpp"
#include "support/run_task.hpp"

namespace errand::host::ollama_models_test {
namespace {

using Ids = std::vector<std::string>;

TEST(OllamaTags, AreReadAsIdsWithoutTheLatestTagAndWithoutEmbeddings) {
  EXPECT_EQ(read_ollama_tags(R"({"models":[
      {"name":"llama3.2:latest","details":{"family":"llama"}},
      {"name":"qwen3:8b"},
      {"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}},
      {"name":""}, {"name":7}, "no", {}]})"),
            (Ids{"ollama/llama3.2", "ollama/qwen3:8b"}));
}

TEST(OllamaTags, WhatIsNoListIsEmpty) {
  for (auto body : {"", "<html>", "[]", "{}", R"({"models":{}})", R"({"models":null})"}) {
    EXPECT_EQ(read_ollama_tags(body), Ids()) << body;
  }
}

// An Ollama on a thread of its own, asked while time stands still.
class OllamaModelsTest : public testing::Test {
 protected:
  OllamaModels make(std::string url, const Ids& known = {}) {
    return {{.client = client_,
             .timers = timers_,
             .home = io_.get_executor(),
             .make = [this](const std::string&) -> std::shared_ptr<llm::Model> {
               return llm::make_demo_model(timers_, io_.get_executor(), nullptr);
             }},
            VendorConfig{.base_url = std::move(url)},
            known};
  }
  std::string url() const { return cat("http://127.0.0.1:", server_.port(), "/v1"); }
  Ids list(OllamaModels& models) { return run_task(io_, models.list()); }

  static Task<void> keep(OllamaModels* models, std::vector<Ids>* lists) {
    Ids ids = co_await models->list();
    lists->push_back(std::move(ids));
  }
  static Task<net::Response> answer(OllamaModelsTest* self, std::string path) {
    ++self->asked_;
    bool is_list = path == "/api/tags" && self->has_list_;
    std::string body = is_list ? R"({"models":[{"name":"a:latest"},{"name":"b:1"}]})" : "no";
    co_return net::Response{.status = is_list ? 200 : 404, .body = std::move(body)};
  }

  std::atomic<int> asked_ = 0;
  std::atomic<bool> has_list_ = true;
  asio::io_context io_{1};
  ManualTimers timers_;
  net::HttpClient client_;
  net::test::TestServer server_{
      [this](const net::Request& request) { return answer(this, request.path); }};
};

TEST_F(OllamaModelsTest, WhatIsKnownIsNotAskedAgainForAWhile) {
  OllamaModels models = make(url());
  EXPECT_EQ(list(models), (Ids{"ollama/a", "ollama/b:1"}));
  has_list_ = false;
  EXPECT_EQ(list(models), (Ids{"ollama/a", "ollama/b:1"}));
  EXPECT_EQ(asked_, 1);
  timers_.advance(OllamaModels::kFresh);
  EXPECT_EQ(list(models), Ids());
  EXPECT_EQ(asked_, 2);
}

TEST_F(OllamaModelsTest, ManyWhoWantToKnowShareOneQuestion) {
  OllamaModels models = make(url());
  std::vector<Ids> lists;
  TaskGroup tasks(io_.get_executor(), [](const char*, const std::string&) {});
  for (int i = 0; i < 5; ++i) tasks.spawn("list", keep(&models, &lists));
  run_until(io_, [&] { return tasks.size() == 0; });
  EXPECT_EQ(lists, std::vector<Ids>(5, Ids{"ollama/a", "ollama/b:1"}));
  EXPECT_EQ(asked_, 1);
}

TEST_F(OllamaModelsTest, AQuestionThatIsCalledOffIsAskedByTheNext) {
  OllamaModels models = make(url());
  std::vector<Ids> lists;
  TaskGroup leaving(io_.get_executor(), [](const char*, const std::string&) {});
  leaving.spawn("list", keep(&models, &lists));
  run_ready(io_);
  TaskGroup staying(io_.get_executor(), [](const char*, const std::string&) {});
  staying.spawn("list", keep(&models, &lists));
  run_ready(io_);
  leaving.cancel(CancelReason::client_gone);
  run_until(io_, [&] { return leaving.size() == 0 && staying.size() == 0; });
  EXPECT_EQ(lists.back(), (Ids{"ollama/a", "ollama/b:1"}));
}

TEST_F(OllamaModelsTest, AnOllamaThatIsNotThereHasNoModels) {
  OllamaModels models = make("http://127.0.0.1:1/v1");
  EXPECT_EQ(list(models), Ids());
}

TEST_F(OllamaModelsTest, ModelsWithNamesOfTheirOwnAreNotListed) {
  OllamaModels models = make(url(), {"a"});
  EXPECT_EQ(list(models), Ids{"ollama/b:1"});
}

TEST_F(OllamaModelsTest, AModelIsMadeOfAnyIdOfItsKind) {
  OllamaModels models = make(url());
  EXPECT_EQ(models.make("ollama/a")->info, (ModelInfo{"ollama/a", "ollama", "a:latest"}));
  EXPECT_EQ(models.make("ollama/b:1")->info, (ModelInfo{"ollama/b:1", "ollama", "b:1"}));
  EXPECT_FALSE(models.make("openai/a"));
  EXPECT_FALSE(models.make("ollama/"));
}

}  // namespace
}  // namespace errand::host::ollama_models_test

#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "async/timers.hpp"
#include "engine/models/catalog.hpp"
#include "host/vendors.hpp"
#include "net/client/http_client.hpp"

namespace errand::host {

// The ids of the models that an answer to GET /api/tags lists, such as "ollama/llama3.2"; those
// that only make embeddings are left out. Empty for what is no such list.
std::vector<std::string> read_ollama_tags(std::string_view body);

// The models that are installed in an Ollama, which may come and go. It is asked when somebody
// wants to know, at most once in kFresh, by one question at a time.
class OllamaModels final : public engine::ModelSource {
 public:
  static constexpr milliseconds kFresh{5'000};
  static constexpr milliseconds kAskTime{1'000};  // an Ollama that is slower counts as none
  static constexpr std::size_t kListedMax = 200;  // more are left out

  using Make = std::function<std::shared_ptr<llm::Model>(const std::string& vendor_model_id)>;

  struct Deps {
    net::HttpClient& client;
    Timers& timers;
    Executor home;
    Make make;
  };

  // Models whose vendor ids are in `known` are not listed, because they have names of their own.
  OllamaModels(Deps deps, VendorConfig config, const std::vector<std::string>& known);

  Task<std::vector<std::string>> list() override;
  std::optional<engine::CatalogModel> make(std::string_view id) override;
  // Only models that are installed can be named.
  bool may_be_named(std::string_view) const override { return false; }
  std::string advice(std::string_view) const override { return ""; }

 private:
  // cancelled: the task was, and nothing is known.
  Task<Result<std::vector<std::string>>> ask();

  const Deps deps_;
  const VendorConfig config_;
  std::set<std::string> known_;  // as ids
  std::vector<std::string> ids_;
  SteadyTime fresh_until_ = SteadyTime::min();
  bool is_asking_ = false;
  SteadyTimer asked_;  // never due: who waits for the answer waits until it is cancelled
};

}  // namespace errand::host

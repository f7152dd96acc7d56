#include "host/ollama_models.hpp"

#include <utility>

#include "base/text.hpp"
#include "llm/members.hpp"

namespace errand::host {
namespace {

constexpr std::string_view kPrefix = "ollama/";
constexpr std::string_view kLatest = ":latest";
constexpr std::size_t kNameBytesMax = 200;

std::string to_id(std::string_view name) {
  if (name.ends_with(kLatest)) name.remove_suffix(kLatest.size());
  return cat(kPrefix, name);
}

// Ollama lists every model under a name with a tag.
std::string to_name(std::string_view id) {
  std::string_view name = id.substr(kPrefix.size());
  return name.find(':') == std::string_view::npos ? cat(name, kLatest) : std::string(name);
}

bool only_embeds(const json::Object* model) {
  std::string_view family = llm::text_at(llm::object_at(model, "details"), "family");
  return family.find("bert") != std::string_view::npos;
}

std::string tags_url(std::string_view base_url) {
  constexpr std::string_view kCompatible = "/v1";
  if (base_url.ends_with(kCompatible)) base_url.remove_suffix(kCompatible.size());
  return cat(base_url, "/api/tags");
}

}  // namespace

std::vector<std::string> read_ollama_tags(std::string_view body) {
  std::vector<std::string> ids;
  auto answer = llm::parse_object(body);
  const json::Array* models = answer ? llm::array_at(&*answer, "models") : nullptr;
  if (!models) return ids;
  for (const json::Value& model : *models) {
    std::string_view name = llm::text_at(model.if_object(), "name");
    bool is_listed =
        !name.empty() && name.size() <= kNameBytesMax && !only_embeds(model.if_object());
    if (is_listed && ids.size() < OllamaModels::kListedMax) ids.push_back(to_id(name));
  }
  return ids;
}

OllamaModels::OllamaModels(Deps deps, VendorConfig config, const std::vector<std::string>& known)
    : deps_(std::move(deps)), config_(std::move(config)), asked_(deps_.home, SteadyTime::max()) {
  for (const std::string& name : known) known_.insert(to_id(name));
}

Task<std::vector<std::string>> OllamaModels::list() {
  while (is_asking_) co_await asked_.async_wait(as_result);
  if (deps_.timers.now() >= fresh_until_) {
    struct Asking {
      OllamaModels& self;
      ~Asking() {
        self.is_asking_ = false;
        self.asked_.cancel();
      }
    };
    is_asking_ = true;
    Asking asking{*this};
    auto found = co_await ask();
    if (!found) co_return ids_;  // cancelled: the next caller asks
    ids_ = std::move(*found);
    fresh_until_ = deps_.timers.now() + kFresh;
  }
  co_return ids_;
}

Task<Result<std::vector<std::string>>> OllamaModels::ask() {
  net::ClientRequest request{.url = tags_url(config_.base_url), .timeouts = {.total = kAskTime}};
  if (!config_.api_key.empty()) {
    request.headers.push_back({"authorization", cat("Bearer ", config_.api_key)});
  }
  for (const auto& [name, value] : config_.headers) request.headers.push_back({name, value});
  auto answer = co_await deps_.client.send(std::move(request));
  if (!answer && answer.error().code() == ErrorCode::cancelled) {
    co_return std::move(answer).error();
  }
  std::vector<std::string> ids;
  if (answer && answer->status == 200) ids = read_ollama_tags(answer->body);
  std::erase_if(ids, [this](const std::string& id) { return known_.contains(id); });
  co_return ids;
}

std::optional<engine::CatalogModel> OllamaModels::make(std::string_view id) {
  bool is_own = id.starts_with(kPrefix) && id.size() > kPrefix.size();
  if (!is_own) return {};
  std::string name = to_name(id);
  auto model = deps_.make(name);
  return engine::CatalogModel{
      .info = {.id = std::string(id), .provider = "ollama", .vendor_model_id = std::move(name)},
      .label = std::string(id.substr(kPrefix.size())),
      .model = std::move(model)};
}

}  // namespace errand::host

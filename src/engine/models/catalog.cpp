#include "engine/models/catalog.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/close_names.hpp"
#include "base/text.hpp"

namespace errand::engine {
namespace {

bool is_named(const ModelInfo& info, std::string_view asked) {
  return asked == info.id || asked == cat("platform:", info.id) ||
         asked == cat("provider:", info.id) ||
         asked == cat("provider:", info.id, ":", info.vendor_model_id) ||
         asked == cat(info.provider, ":", info.vendor_model_id) ||
         asked == cat(info.provider, "/", info.vendor_model_id);
}

// The one model that `asked` names; nothing if there is none, or if it is not clear which.
const CatalogModel* pick(const std::vector<const CatalogModel*>& models, std::string_view asked,
                         std::size_t& matches) {
  const CatalogModel* by_vendor = nullptr;
  for (const CatalogModel* model : models) {
    if (is_named(model->info, asked)) {
      matches = 1;
      return model;
    }
    if (asked != model->info.vendor_model_id) continue;
    by_vendor = model;
    ++matches;
  }
  return matches == 1 ? by_vendor : nullptr;
}

}  // namespace

Catalog::Catalog(std::vector<CatalogModel> models, std::string default_id, CatalogSource source)
    : models_(std::move(models)), default_id_(std::move(default_id)), source_(std::move(source)) {
  ERRAND_ASSERT(!models_.empty() && source_.position <= models_.size());
  ERRAND_ASSERT(default_id_.empty() || find_listed(default_id_) != nullptr);
}

std::vector<const CatalogModel*> Catalog::models() const {
  std::vector<const CatalogModel*> out;
  for (const CatalogModel& model : models_) out.push_back(&model);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(source_.position), listed_.begin(),
             listed_.end());
  return out;
}

const std::string& Catalog::default_id() const {
  if (!default_id_.empty()) return default_id_;
  bool is_found = source_.position == 0 && !listed_.empty();
  return is_found ? listed_.front()->info.id : models_.front().info.id;
}

bool Catalog::depends_on_source(std::string_view asked) const {
  if (!source_.models) return false;
  if (asked.empty()) return default_id_.empty() && source_.position == 0;
  if (source_.models->may_be_named(asked)) return false;
  return std::none_of(models_.begin(), models_.end(),
                      [&](const CatalogModel& model) { return is_named(model.info, asked); });
}

Task<void> Catalog::refresh() {
  if (!source_.models) co_return;
  std::vector<std::string> ids = co_await source_.models->list();
  listed_.clear();
  for (const std::string& id : ids) {
    if (find_listed(id)) continue;
    if (const CatalogModel* model = find_in_source(id)) listed_.push_back(model);
  }
}

const CatalogModel* Catalog::find_listed(std::string_view id) const {
  for (const CatalogModel& model : models_) {
    if (model.info.id == id) return &model;
  }
  auto found = std::find_if(listed_.begin(), listed_.end(),
                            [&](const CatalogModel* model) { return model->info.id == id; });
  return found == listed_.end() ? nullptr : *found;
}

const CatalogModel* Catalog::find_in_source(std::string_view id) {
  if (auto found = found_.find(id); found != found_.end()) return &found->second;
  if (auto named = named_.find(id); named != named_.end()) return &named->second;
  if (!source_.models || found_.size() >= kFoundMax) return nullptr;
  auto made = source_.models->make(id);
  if (!made) return nullptr;
  return &found_.emplace(std::string(id), std::move(*made)).first->second;
}

const CatalogModel* Catalog::find(std::string_view id) {
  const CatalogModel* listed = find_listed(id);
  return listed ? listed : find_in_source(id);
}

llm::Model* Catalog::find_with_fallback(const std::string& id, const std::string& fallback,
                                        Log& log) {
  const CatalogModel* first = find(id);
  const CatalogModel* second = fallback.empty() || fallback == id ? nullptr : find(fallback);
  if (!first || !second) return first ? first->model.get() : nullptr;
  auto [known, is_new] = with_fallback_.try_emplace({id, fallback});
  if (!is_new) return known->second.get();
  auto alone = [](const CatalogModel& model) {
    return model.chain.empty() ? llm::NamedModel{.info = model.info, .model = model.model}
                               : model.chain.front();
  };
  std::vector<llm::NamedModel> chain{alone(*first), alone(*second)};
  for (std::size_t i = 1; i < first->chain.size(); ++i) {
    if (first->chain[i].info.id != fallback) chain.push_back(first->chain[i]);
  }
  known->second = std::make_unique<llm::FallbackModel>(std::move(chain), log);
  return known->second.get();
}

Result<const CatalogModel*> Catalog::find_named(std::string_view asked) {
  if (auto named = named_.find(asked); named != named_.end()) return &named->second;
  if (named_.size() >= kNamedMax) {
    return Error(ErrorCode::invalid_argument,
                 cat("this server has been asked for ", kNamedMax,
                     " models that it does not list, and takes no further names"))
        .reason("invalid_model")
        .pointer("/modelId")
        .hint("list the models that are used in a configuration file, or restart the server");
  }
  auto made = source_.models->make(asked);
  ERRAND_ASSERT(made.has_value());
  return &named_.emplace(std::string(asked), std::move(*made)).first->second;
}

Result<const CatalogModel*> Catalog::resolve(std::string_view asked) {
  if (asked.empty()) return find_listed(default_id());
  if (const CatalogModel* model = find_listed(asked)) return model;
  std::vector<const CatalogModel*> all = models();
  std::size_t matches = 0;
  if (const CatalogModel* model = pick(all, asked, matches)) return model;
  if (source_.models && source_.models->may_be_named(asked)) return find_named(asked);
  return unknown_model(asked, matches);
}

Error Catalog::unknown_model(std::string_view asked, std::size_t matches) const {
  std::vector<std::string> candidates;
  for (const CatalogModel* model : models()) candidates.push_back(model->info.id);
  std::string meant = matches == 0 ? did_you_mean(asked, candidates) : std::string();
  std::string_view problem =
      matches == 0 ? "no model is called" : "more than one model has the name";
  std::string advice = source_.models ? source_.models->advice(asked) : "";
  if (advice.empty()) {
    advice = cat(meant, meant.empty() ? "" : " ",
                 "use one of the candidates, or leave modelId out for the default");
  }
  return Error(ErrorCode::invalid_argument, cat(problem, " \"", utf8_prefix(asked, 80), "\""))
      .reason("invalid_model")
      .pointer("/modelId")
      .hint(std::move(advice))
      .candidates(std::move(candidates));
}

}  // namespace errand::engine

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

// The one model that `asked` names; null if there is none, or if the name fits several.
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
    if (listed_.size() >= kFoundMax) break;
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
  if (auto made = made_.find(id); made != made_.end()) return &made->second;
  return source_.models ? make_model(id) : nullptr;
}

const CatalogModel* Catalog::make_model(std::string_view id) {
  if (made_.size() >= listed_.size() + kNamedMax) forget_unused();
  if (made_.size() >= listed_.size() + kNamedMax) return nullptr;
  auto model = source_.models->make(id);
  return model ? &made_.emplace(std::string(id), std::move(*model)).first->second : nullptr;
}

void Catalog::forget_unused() {
  // Each of these holds a model and its fallback model.
  std::erase_if(with_fallback_, [](const auto& one) { return one.second.use_count() == 1; });
  std::erase_if(made_, [&](const auto& one) {
    bool is_listed = std::find(listed_.begin(), listed_.end(), &one.second) != listed_.end();
    return !is_listed && one.second.model.use_count() <= 1;
  });
}

const CatalogModel* Catalog::find(std::string_view id) {
  const CatalogModel* listed = find_listed(id);
  return listed ? listed : find_in_source(id);
}

std::shared_ptr<llm::Model> Catalog::find_with_fallback(const std::string& id,
                                                        const std::string& fallback, Log& log) {
  const CatalogModel* first = find(id);
  if (!first) return nullptr;
  const std::shared_ptr<llm::Model> alone = first->model;  // keeps `first` alive
  const CatalogModel* second = fallback.empty() || fallback == id ? nullptr : find(fallback);
  if (!second) return alone;
  if (auto known = with_fallback_.find({id, fallback}); known != with_fallback_.end()) {
    return known->second;
  }
  auto link = [](const CatalogModel& model) {
    if (!model.chain.empty()) return model.chain.front();
    return llm::NamedModel{.info = model.info, .model = model.model, .price = model.pricing};
  };
  std::vector<llm::NamedModel> chain{link(*first), link(*second)};
  for (std::size_t i = 1; i < first->chain.size(); ++i) {
    if (first->chain[i].info.id != fallback) chain.push_back(first->chain[i]);
  }
  auto both = std::make_shared<llm::FallbackModel>(std::move(chain), log);
  if (with_fallback_.size() >= kNamedMax) forget_unused();
  with_fallback_[{id, fallback}] = both;
  return both;
}

Result<const CatalogModel*> Catalog::find_named(std::string_view asked) {
  if (const CatalogModel* model = find_in_source(asked)) return model;
  return Error(ErrorCode::invalid_argument,
               cat(kNamedMax, " models that this server does not list are in use"))
      .reason("invalid_model")
      .pointer("/modelId")
      .hint(
          "ask again when fewer runs are in progress, or list the models in a configuration file");
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

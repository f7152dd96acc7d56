#include "engine/catalog.hpp"

#include <algorithm>

#include "base/assert.hpp"
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

}  // namespace

Catalog::Catalog(std::vector<CatalogModel> models, std::string default_id)
    : models_(std::move(models)), default_id_(std::move(default_id)) {
  ERRAND_ASSERT(!models_.empty());
  if (default_id_.empty()) default_id_ = models_.front().info.id;
  ERRAND_ASSERT(find(default_id_) != nullptr);
}

const CatalogModel* Catalog::find(std::string_view id) const {
  auto found = std::find_if(models_.begin(), models_.end(),
                            [&](const CatalogModel& model) { return model.info.id == id; });
  return found == models_.end() ? nullptr : &*found;
}

Result<const CatalogModel*> Catalog::resolve(std::string_view asked) const {
  if (asked.empty()) return find(default_id_);
  if (const CatalogModel* model = find(asked)) return model;
  std::vector<const CatalogModel*> found;
  for (const CatalogModel& model : models_) {
    if (is_named(model.info, asked)) return &model;
    if (asked == model.info.vendor_model_id) found.push_back(&model);
  }
  if (found.size() == 1) return found.front();

  std::vector<std::string> candidates;
  for (const CatalogModel& model : models_) candidates.push_back(model.info.id);
  std::string_view problem =
      found.empty() ? "no model is called" : "more than one model has the name";
  return Error(ErrorCode::invalid_argument, cat(problem, " \"", utf8_prefix(asked, 80), "\""))
      .reason("invalid_model")
      .pointer("/modelId")
      .hint("use one of the candidates, or leave modelId out for the default")
      .candidates(std::move(candidates));
}

}  // namespace errand::engine

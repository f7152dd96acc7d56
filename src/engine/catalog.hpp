#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "llm/model.hpp"
#include "run/usage.hpp"

namespace errand::engine {

struct Pricing {
  std::optional<double> input_per_1m_usd;
  std::optional<double> output_per_1m_usd;
  std::optional<double> cache_read_per_1m_usd;
};

// A model that callers may name.
struct CatalogModel {
  ModelInfo info;
  std::string label;
  std::optional<std::int64_t> context_window_tokens;
  std::optional<Pricing> pricing;
  std::unique_ptr<llm::Model> model;
};

// The models of this server. Built once, read from then on; lives on the engine's home.
class Catalog final {
 public:
  // `default_id` must be one of the models' ids, or empty for the first.
  Catalog(std::vector<CatalogModel> models, std::string default_id);

  // By catalog id, "platform:ID", "provider:ID[:VENDOR]", "PROVIDER:VENDOR", "PROVIDER/VENDOR", or
  // the vendor's id where only one model has it; empty asks for the default.
  // invalid_argument with reason "invalid_model": none, or more than one; with candidates.
  Result<const CatalogModel*> resolve(std::string_view asked) const;
  const CatalogModel* find(std::string_view id) const;

  const std::vector<CatalogModel>& models() const { return models_; }
  const std::string& default_id() const { return default_id_; }

 private:
  std::vector<CatalogModel> models_;
  std::string default_id_;
};

}  // namespace errand::engine

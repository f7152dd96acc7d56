#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/models/catalog.hpp"
#include "host/discovery.hpp"

namespace errand::host {

// The models of a server without a configuration besides those that it was built with: the models
// of an Ollama, which are listed, and every other model of a vendor whose key is in the
// environment. Only the vendor knows what it has: its models go by "openai/ANY-ID".
class DiscoveredSource final : public engine::ModelSource {
 public:
  static constexpr std::size_t kVendorModelIdBytesMax = 200;  // a longer one is nobody's

  using Make = std::function<std::shared_ptr<llm::Model>(
      const std::string& provider, const VendorConfig& config, const std::string& vendor_model_id)>;

  DiscoveredSource(std::unique_ptr<engine::ModelSource> ollama, std::vector<KeyedVendor> vendors,
                   Make make);

  Task<std::vector<std::string>> list() override;
  std::optional<engine::CatalogModel> make(std::string_view id) override;
  bool may_be_named(std::string_view id) const override;
  std::string advice(std::string_view asked) const override;

 private:
  const KeyedVendor* vendor_of(std::string_view id) const;

  std::unique_ptr<engine::ModelSource> ollama_;
  const std::vector<KeyedVendor> vendors_;
  const Make make_;
};

}  // namespace errand::host

#include "host/discovered_source.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace errand::host {
namespace {

// Some vendors have the model's id in the path of a request, which the id must not change
// otherwise.
bool is_vendor_model_id(std::string_view id) {
  constexpr std::string_view kAllowed = "._:@+-/";
  bool has_known_size = !id.empty() && id.size() <= DiscoveredSource::kVendorModelIdBytesMax;
  bool is_plain = std::all_of(id.begin(), id.end(), [&](char c) {
    bool is_alphanumeric =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_alphanumeric || kAllowed.find(c) != std::string_view::npos;
  });
  return has_known_size && is_plain && id.find("..") == std::string_view::npos &&
         !id.starts_with('/') && !id.ends_with('/');
}

std::string_view after_slash(std::string_view id) {
  return id.substr(id.find('/') + 1);
}

}  // namespace

DiscoveredSource::DiscoveredSource(std::unique_ptr<engine::ModelSource> ollama,
                                   std::vector<KeyedVendor> vendors, Make make)
    : ollama_(std::move(ollama)), vendors_(std::move(vendors)), make_(std::move(make)) {}

const KeyedVendor* DiscoveredSource::vendor_of(std::string_view id) const {
  std::size_t slash = id.find('/');
  if (slash == std::string_view::npos) return nullptr;
  for (const KeyedVendor& vendor : vendors_) {
    if (id.substr(0, slash) == vendor.name) return &vendor;
  }
  return nullptr;
}

Task<std::vector<std::string>> DiscoveredSource::list() {
  return ollama_->list();
}

bool DiscoveredSource::may_be_named(std::string_view id) const {
  const KeyedVendor* vendor = vendor_of(id);
  return vendor && vendor->config && is_vendor_model_id(after_slash(id));
}

std::optional<engine::CatalogModel> DiscoveredSource::make(std::string_view id) {
  if (!may_be_named(id)) return ollama_->make(id);
  const KeyedVendor& vendor = *vendor_of(id);
  std::string vendor_model_id(after_slash(id));
  auto model = make_(vendor.name, *vendor.config, vendor_model_id);
  return engine::CatalogModel{
      .info = {.id = std::string(id), .provider = vendor.name, .vendor_model_id = vendor_model_id},
      .label = vendor_model_id,
      .model = std::move(model)};
}

std::string DiscoveredSource::advice(std::string_view asked) const {
  const KeyedVendor* vendor = vendor_of(asked);
  if (!vendor) return "";
  if (!vendor->config) {
    return cat("models of ", vendor->name, " need the environment variable ", vendor->key_variable,
               " where the runs are driven; or use one of the candidates");
  }
  return cat("\"", utf8_prefix(after_slash(asked), 80), "\" cannot be the id of a model");
}

}  // namespace errand::host

#include "sdk/client/find_server.hpp"

#include <utility>

namespace errand::sdk {
namespace {

constexpr std::string_view kDataFolder = ".errand";

std::filesystem::path nearest_data(std::filesystem::path folder) {
  const std::filesystem::path here = folder / kDataFolder;
  for (;;) {
    std::error_code ignored;
    std::filesystem::path data = folder / kDataFolder;
    if (std::filesystem::exists(credentials_file(data), ignored)) return data;
    if (!folder.has_relative_path()) return here;
    folder = folder.parent_path();
  }
}

}  // namespace

Result<Credentials> find_nearby_server(ServerFlags flags, const net::Environment& environment,
                                       std::filesystem::path folder) {
  if (flags.server.empty()) flags.server = environment("ERRAND_SERVER").value_or("");
  std::string key = environment("ERRAND_API_KEY").value_or("");
  if (!flags.data) flags.data = nearest_data(std::move(folder)).string();
  return find_server(flags, key.empty() ? nullptr : key.c_str());
}

}  // namespace errand::sdk

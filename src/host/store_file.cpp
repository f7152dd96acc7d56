#include "host/store_file.hpp"

#include <string_view>

#include "base/text.hpp"

namespace errand::host {

Result<std::filesystem::path> store_file(const std::string& data, const std::string& store) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (store.empty()) return std::filesystem::path(data) / kStoreFile;
  if (store.starts_with(kSqlite)) return std::filesystem::path(store.substr(kSqlite.size()));
  return Error(ErrorCode::invalid_argument, cat("--store ", store, ": expected sqlite:PATH"));
}

}  // namespace errand::host

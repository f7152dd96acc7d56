#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "run/principal.hpp"
#include "store/records.hpp"

namespace errand::engine {

// What is kept of a key beside its row, as a record of the kind "api-key" under the key's id. A key
// without a record is not restricted and was never used.
struct KeyRecord {
  static constexpr std::string_view kKind = "api-key";

  Grant grant = {};
  std::optional<WallTime> expires_at = {};
  std::optional<WallTime> last_used_at = {};
};

std::string to_text(const KeyRecord& record);
// internal: it is not such a record, or one of a newer version.
Result<KeyRecord> parse_key_record(std::string_view text);

}  // namespace errand::engine

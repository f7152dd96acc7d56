#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "run/log/event.hpp"
#include "run/principal.hpp"
#include "store/records.hpp"

namespace errand::engine {

// What the ended runs of a key have used.
struct KeyUsage {
  std::int64_t runs = 0;
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  double cost_usd = 0;             // of the runs whose cost is known
  std::int64_t unpriced_runs = 0;  // the others

  void add(const RunTotals& totals);
  friend bool operator==(const KeyUsage&, const KeyUsage&) = default;
};

// The part of a key that is not in its row: a record of the kind "api-key" under the key's id. A
// key without a record is not restricted and was never used.
struct KeyRecord {
  static constexpr std::string_view kKind = "api-key";

  Grant grant = {};
  std::optional<WallTime> expires_at = {};
  std::optional<WallTime> last_used_at = {};
  KeyUsage usage = {};
};

std::string to_text(const KeyRecord& record);
// internal: it is not such a record, or one of a newer version.
Result<KeyRecord> parse_key_record(std::string_view text);

}  // namespace errand::engine

#include "llm/members.hpp"

#include <algorithm>

#include "json/parse.hpp"

namespace errand::llm {
namespace {

constexpr std::int64_t kTokensMax = 1'000'000'000'000;

}  // namespace

void read_tokens(std::int64_t& count, const json::Object* from, std::string_view key) {
  if (auto number = integer_at(from, key)) {
    count = std::clamp<std::int64_t>(*number, 0, kTokensMax);
  }
}

std::optional<json::Object> parse_object(std::string_view text) {
  auto value = json::parse(text, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                  .values_max = json::kStrangersValuesMax});
  if (!value || !value->is_object()) return {};
  return std::move(value->as_object());
}

}  // namespace errand::llm

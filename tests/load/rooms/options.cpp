#include "load/rooms/options.hpp"

#include <string_view>

#include "base/text.hpp"

namespace errand::load {
namespace {

Error wrong(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

Result<RoomScenario> scenario_of(std::string_view word) {
  if (word == "idle") return RoomScenario::idle;
  if (word == "calls") return RoomScenario::calls;
  if (word == "broadcast") return RoomScenario::broadcast;
  return wrong(cat("there is no scenario ", word));
}

Result<std::size_t> count_of(std::string_view word) {
  auto count = parse_integer<std::size_t>(word);
  if (!count || *count == 0) return wrong(cat("not a count: ", word));
  return *count;
}

}  // namespace

Result<RoomOptions> parse_room_options(std::span<const char* const> words) {
  if (words.empty()) return wrong("which scenario?");
  RoomOptions options;
  ERRAND_TRY(options.scenario, scenario_of(words[0]));
  for (std::size_t i = 1; i < words.size(); i += 2) {
    const std::string_view flag = words[i];
    if (i + 1 == words.size()) return wrong(cat(flag, " needs a value"));
    const std::string_view value = words[i + 1];
    if (flag == "--url") {
      options.url = value;
    } else if (flag == "--token") {
      options.tokens.emplace_back(value);
    } else if (flag == "--participants") {
      ERRAND_TRY(options.participants, count_of(value));
    } else if (flag == "--rounds") {
      ERRAND_TRY(options.rounds, count_of(value));
    } else {
      return wrong(cat("there is no flag ", flag));
    }
  }
  if (options.url.empty() || options.tokens.empty()) return wrong("--url and --token are needed");
  return options;
}

}  // namespace errand::load

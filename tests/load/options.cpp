#include "load/options.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace errand::load {
namespace {

constexpr std::size_t kRunsMax = 10'000'000;
constexpr std::size_t kInFlightMax = 10'000;
constexpr std::size_t kPaceMillisMax = 10'000;
constexpr std::size_t kPerSecondMax = 1'000'000;
constexpr std::size_t kTurnsMax = 10'000;

Error wrong(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

template <class N>
Result<void> read_count(std::string_view name, std::string_view text, std::size_t max, N& out) {
  auto number = parse_integer<std::size_t>(text);
  if (!number || *number < 1 || *number > max) {
    return wrong(cat(name, " ", text, ": expected a number from 1 to ", max));
  }
  out = static_cast<N>(*number);
  return {};
}

Result<void> take_option(std::string_view name, std::string_view value, Options& options) {
  if (name == "--port") return read_count(name, value, 65535, options.port);
  if (name == "--runs") return read_count(name, value, kRunsMax, options.runs);
  if (name == "--pace") return read_count(name, value, kPaceMillisMax, options.pace_ms);
  if (name == "--per-second") return read_count(name, value, kPerSecondMax, options.per_second);
  if (name == "--sessions") return read_count(name, value, kRunsMax, options.sessions);
  if (name == "--turns") return read_count(name, value, kTurnsMax, options.turns);
  if (name == "--in-flight") return read_count(name, value, kInFlightMax, options.in_flight);
  if (name == "--key") {
    options.key = value;
  } else if (name == "--workspace") {
    options.workspace = value;
  } else if (name == "--model") {
    options.model = value;
  } else if (name == "--tool") {
    options.tool = value;
  } else if (name == "--plugin") {
    options.plugin = value;
  } else if (name == "--mcp") {
    options.mcp = value;
  } else {
    return wrong(cat("there is no option ", name));
  }
  return {};
}

Result<Scenario> parse_scenario(std::string_view word) {
  if (word == "runs") return Scenario::runs;
  if (word == "created") return Scenario::created;
  if (word == "paused") return Scenario::paused;
  if (word == "held") return Scenario::held;
  if (word == "streams") return Scenario::streams;
  if (word == "messages") return Scenario::messages;
  return wrong(cat("there is no scenario '", word, "'"));
}

}  // namespace

Result<Options> parse_options(std::span<const char* const> words) {
  if (words.empty()) return wrong("which scenario?");
  Options options;
  ERRAND_TRY(options.scenario, parse_scenario(words.front()));
  for (std::size_t i = 1; i < words.size(); i += 2) {
    if (i + 1 == words.size()) return wrong(cat(words[i], " needs a value"));
    ERRAND_CHECK(take_option(words[i], words[i + 1], options));
  }
  if (options.port == 0) return wrong("--port is missing");
  if (options.key.empty()) return wrong("--key is missing");
  if (options.scenario == Scenario::paused && options.tool.empty()) {
    return wrong("paused runs need a --tool to wait for");
  }
  if (options.scenario == Scenario::streams && options.pace_ms == 0) {
    return wrong("streams need the --pace of their deltas");
  }
  return options;
}

}  // namespace errand::load

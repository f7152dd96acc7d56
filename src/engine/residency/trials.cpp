#include "engine/residency/trials.hpp"

#include <algorithm>

#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::engine {
namespace {

constexpr int kKillsMax = 1'000'000;
constexpr int kHalvesMax = 30;  // enough to halve any group down to one run

Error not_a_trial() {
  return {ErrorCode::internal, "the record of runs on trial cannot be read"};
}

// A suspect is [id, kills, strikes].
Result<void> read_suspect(const json::Value& value, Suspects& suspects) {
  const json::Array* parts = value.if_array();
  if (!parts || parts->size() != 3 || !(*parts)[0].is_string()) return not_a_trial();
  auto id = RunId::parse(json::view((*parts)[0].get_string()));
  const std::int64_t* kills = (*parts)[1].if_int64();
  const std::int64_t* strikes = (*parts)[2].if_int64();
  if (!id || !kills || !strikes || *kills > kKillsMax || *strikes > *kills) return not_a_trial();
  suspects[*id] = {.kills = static_cast<int>(*kills), .strikes = static_cast<int>(*strikes)};
  return {};
}

}  // namespace

std::string to_json(const Trial& trial) {
  json::Array suspects;
  for (const auto& [run, suspicion] : trial.suspects) {
    suspects.push_back(json::Array{run.view(), suspicion.kills, suspicion.strikes});
  }
  json::Array on;
  for (const RunId& run : trial.on) on.emplace_back(run.view());
  return json::write(json::Object{{"suspects", std::move(suspects)},
                                  {"everyone", trial.is_everyone_on},
                                  {"on", std::move(on)}});
}

Result<Trial> parse_trial(std::string_view text) {
  ERRAND_TRY(auto value, json::parse(text));
  const json::Object* object = value.if_object();
  if (!object) return not_a_trial();
  const json::Value* suspects = object->if_contains("suspects");
  const json::Value* everyone = object->if_contains("everyone");
  const json::Value* on = object->if_contains("on");
  bool is_whole =
      suspects && suspects->is_array() && everyone && everyone->is_bool() && on && on->is_array();
  if (!is_whole) return not_a_trial();
  Trial trial{.suspects = {}, .is_everyone_on = everyone->get_bool(), .on = {}};
  for (const json::Value& suspect : suspects->get_array()) {
    ERRAND_CHECK(read_suspect(suspect, trial.suspects));
  }
  for (const json::Value& run : on->get_array()) {
    auto id = run.is_string() ? RunId::parse(json::view(run.get_string())) : std::nullopt;
    if (!id) return not_a_trial();
    trial.on.push_back(*id);
  }
  return trial;
}

Suspicion suspicion_of(const Trial& trial, const RunId& run, ProcessEnd end) {
  auto found = trial.suspects.find(run);
  bool is_known = found != trial.suspects.end();
  Suspicion suspicion = is_known ? found->second : Suspicion();
  if (end == ProcessEnd::left) return suspicion;
  bool was_on = is_known ? std::find(trial.on.begin(), trial.on.end(), run) != trial.on.end()
                         : trial.is_everyone_on;
  if (!was_on) return suspicion;
  ++suspicion.kills;
  if (is_known && trial.on.size() == 1) ++suspicion.strikes;
  return suspicion;
}

std::vector<std::vector<RunId>> plan_trials(const Suspects& suspects) {
  std::map<int, std::vector<RunId>> by_kills;
  for (const auto& [run, suspicion] : suspects) by_kills[suspicion.kills].push_back(run);
  std::vector<std::vector<RunId>> groups;
  for (const auto& [kills, runs] : by_kills) {
    const std::size_t parts = std::size_t{1} << std::min(kills, kHalvesMax);
    const std::size_t size = (runs.size() + parts - 1) / parts;
    for (std::size_t first = 0; first < runs.size(); first += size) {
      auto begin = runs.begin() + static_cast<std::ptrdiff_t>(first);
      auto end = runs.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, runs.size()));
      groups.emplace_back(begin, end);
    }
  }
  return groups;
}

}  // namespace errand::engine

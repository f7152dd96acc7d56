#include "agent/fold/guards.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "agent/fold/arguments.hpp"
#include "agent/fold/state.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::agent {
namespace {

using Stage = Repetition::Stage;

constexpr std::string_view kSkipped =
    "Skipped: you've made this exact call before, with the same arguments, so it was not made "
    "again. Use the result you already have.";
constexpr std::string_view kLoopNudge =
    "You keep making the same tool calls. Either deliver a final answer with what you have, or "
    "change strategy: other arguments, or another tool.";
constexpr std::string_view kErrorNudge =
    "Your tool calls keep failing with the same error. Either deliver a final answer with what you "
    "have, or change strategy: other arguments, or another tool.";
constexpr std::string_view kCutOff =
    "Tools are switched off for the rest of this run, because the same happened again and again. "
    "Deliver your final answer now, with what you have.";

// FNV-1a: the same in every process, so that a restarted process decides alike. Never 0.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1'099'511'628'211U;
  }
  return hash == 0 ? 1 : hash;
}

void write_number(std::string& out, double number) {
  constexpr double kExactMax = 9'007'199'254'740'992.0;
  if (std::trunc(number) == number && std::abs(number) <= kExactMax) {
    append(out, static_cast<std::int64_t>(number));
  } else {
    json::write(out, json::Value(number));
  }
}

// Recursion is bounded by the parser's depth limit.
void write_canonical(std::string& out, const json::Value& value) {
  if (const auto* object = value.if_object()) {
    std::vector<std::string_view> keys;
    for (const auto& member : *object) keys.emplace_back(member.key().data(), member.key().size());
    std::sort(keys.begin(), keys.end());
    out += '{';
    for (std::string_view key : keys) {
      json::write_string(out, key);
      out += ':';
      write_canonical(out, object->at(key));
      out += ',';
    }
    out += '}';
  } else if (const auto* array = value.if_array()) {
    out += '[';
    for (const json::Value& item : *array) {
      write_canonical(out, item);
      out += ',';
    }
    out += ']';
  } else if (const auto* number = value.if_double()) {
    write_number(out, *number);
  } else {
    json::write(out, value);
  }
}

// A hash that does not depend on the order of the marks.
std::uint64_t hash_of_all(std::vector<std::uint64_t> marks) {
  std::sort(marks.begin(), marks.end());
  std::string all;
  for (std::uint64_t mark : marks) append(all, mark, ":");
  return hash_of(all);
}

std::uint64_t error_of(const std::vector<CallState>& calls) {
  std::vector<std::uint64_t> failures;
  for (const CallState& call : calls) {
    if (call.failure_mark == 0) return 0;
    failures.push_back(call.failure_mark);
  }
  return failures.empty() ? 0 : hash_of_all(std::move(failures));
}

// The length of the longest end of the list that repeats with this period.
std::size_t cycling(const std::vector<Batch>& batches, std::size_t period) {
  if (batches.size() < period) return 0;
  std::size_t length = period;
  while (length < batches.size() && batches[batches.size() - 1 - (length - period)].calls ==
                                        batches[batches.size() - 1 - length].calls) {
    ++length;
  }
  return length;
}

void add_tools(std::vector<std::string>& tools, const Batch& batch) {
  for (const std::string& name : batch.tools) {
    if (std::find(tools.begin(), tools.end(), name) == tools.end()) tools.push_back(name);
  }
}

Stage stage_of(std::size_t length, std::size_t period, const LoopLimits& limits) {
  auto count = static_cast<int>(length / period);
  if (count >= limits.cut_off_at) return Stage::cut_off;
  if (count < limits.nudge_at) return Stage::none;
  bool is_first = length == period * static_cast<std::size_t>(limits.nudge_at);
  return is_first ? Stage::nudge : Stage::known;
}

Repetition repetition(const std::vector<Batch>& batches, std::size_t length, std::size_t period,
                      Stage stage) {
  Repetition found{.stage = stage, .count = static_cast<int>(length / period), .tools = {}};
  for (std::size_t i = batches.size() - period; i < batches.size(); ++i) {
    add_tools(found.tools, batches[i]);
  }
  return found;
}

Repetition loop_of(const State& state) {
  const auto& limits = state.created().limits.loop;
  if (!limits || state.turn().calls.empty()) return {};
  return find_loop(state.batches(), *limits);
}

Repetition same_error_of(const State& state) {
  const auto& limits = state.created().limits.loop;
  if (!limits || state.batches().empty()) return {};
  std::vector<Batch> batches = state.batches();
  batches.back().error = error_of(state.turn().calls);
  return find_same_error(batches, *limits);
}

Steering steered(const Repetition& found, std::string_view nudge) {
  if (found.stage != Stage::nudge && found.stage != Stage::cut_off) return {};
  bool is_cut_off = found.stage == Stage::cut_off;
  return {
      .nudge = std::string(is_cut_off ? kCutOff : nudge),
      .tools_off = is_cut_off,
      .event = LoopDetected{.count = found.count, .hard_cutoff = is_cut_off, .tools = found.tools}};
}

}  // namespace

std::string canonical_arguments(std::string_view raw) {
  if (raw.size() > kArgumentsBytesMax) return std::string(raw);
  auto value = json::parse(raw, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                 .values_max = json::kStrangersValuesMax});
  if (!value) return std::string(raw);
  std::string out;
  write_canonical(out, *value);
  return out;
}

std::uint64_t call_mark(std::string_view name, std::string_view arguments) {
  return hash_of(cat(name, "\n", canonical_arguments(arguments)));
}

std::uint64_t failure_mark(std::string_view name, const OutcomeEntry& outcome) {
  if (outcome.ok || outcome.text == kSkipped) return 0;
  return hash_of(cat(name, "\n", outcome.text));
}

Batch batch_of(const State& state) {
  Batch batch;
  std::vector<std::uint64_t> calls;
  std::set<std::string_view> names;
  for (const CallState& call : state.turn().calls) {
    calls.push_back(call.mark);
    if (names.insert(call.name).second) batch.tools.push_back(call.name);
  }
  batch.calls = hash_of_all(std::move(calls));
  batch.error = error_of(state.turn().calls);
  return batch;
}

Repetition find_loop(const std::vector<Batch>& batches, const LoopLimits& limits) {
  for (std::size_t period = 1; period <= kCycleMax; ++period) {
    std::size_t length = cycling(batches, period);
    Stage stage = stage_of(length, period, limits);
    if (stage != Stage::none) return repetition(batches, length, period, stage);
  }
  return {};
}

Repetition find_same_error(const std::vector<Batch>& batches, const LoopLimits& limits) {
  if (batches.empty() || batches.back().error == 0) return {};
  auto other = std::find_if(batches.rbegin(), batches.rend(), [&](const Batch& batch) {
    return batch.error != batches.back().error;
  });
  auto length = static_cast<std::size_t>(other - batches.rbegin());
  Stage stage = stage_of(length, 1, limits);
  return stage == Stage::none ? Repetition() : repetition(batches, length, 1, stage);
}

bool is_near_loop(const std::vector<Batch>& batches, const LoopLimits& limits) {
  for (std::size_t period = 1; period <= std::min(kCycleMax, batches.size()); ++period) {
    std::size_t length = cycling(batches, period) + 1;
    if (length / period >= static_cast<std::size_t>(limits.nudge_at)) return true;
  }
  return false;
}

bool holds_calls(const State& state) {
  const TurnState& turn = state.turn();
  const RunLimits& limits = state.created().limits;
  if (turn.tools_off || state.is_over_turn_limit()) return true;
  return !turn.end && limits.loop && is_near_loop(state.batches(), *limits.loop);
}

std::optional<std::string> batch_refusal(const State& state) {
  const RunLimits& limits = state.created().limits;
  if (state.is_over_turn_limit()) {
    return cat("This call was not made: the run may call tools in ", limits.max_tool_turns,
               " turns only. Deliver your final answer now, with what you have.");
  }
  if (loop_of(state).stage != Stage::none) return std::string(kSkipped);
  return {};
}

Steering steering_after(const State& state) {
  if (state.is_over_turn_limit()) return {.tools_off = true};
  Repetition loop = loop_of(state);
  if (loop.stage != Stage::none) return steered(loop, kLoopNudge);
  return steered(same_error_of(state), kErrorNudge);
}

}  // namespace errand::agent

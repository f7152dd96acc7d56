#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "run/status.hpp"
#include "run/usage.hpp"

namespace errand::agent {

// Calls of tools of one kind.
struct CallCounts {
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;
};

// What one model was asked for, and what came of it.
struct ModelCounts {
  std::uint64_t calls = 0;
  std::uint64_t failures = 0;
  Usage tokens = {};
  SteadyTime::duration time{};  // of answers
};

// What the agents of one home count. Plain numbers: touched on that home only.
struct Counters {
  std::uint64_t durable_waits = 0;  // times something waited for a commit
  std::uint64_t appends = 0;
  std::uint64_t model_calls = 0;
  std::uint64_t call_looks = 0;  // times the store was asked for calls that wait for a client

  std::uint64_t runs_created = 0;
  std::uint64_t sessions_created = 0;
  std::uint64_t session_messages = 0;                    // runs of sessions
  std::array<std::uint64_t, kRunStatuses> runs_ended{};  // by status
  Usage tokens;
  std::map<std::string_view, CallCounts> tool_calls;  // by kind of tool, which is a fixed text
  std::uint64_t model_failures = 0;
  std::uint64_t model_retries = 0;
  DurationHistogram model_times;  // of whole answers
  DurationHistogram commit_times;
  std::size_t commits_waiting = 0;  // now

  // Names beyond this number are counted together, as kOthers.
  static constexpr std::size_t kNamesMax = 100;
  static constexpr std::string_view kOthers = "others";
  std::map<std::string, ModelCounts, std::less<>> models;      // by id
  std::map<std::string, std::uint64_t, std::less<>> failures;  // of runs, by what ended them
  std::uint64_t runs_removed = 0;                              // because they were old

  ModelCounts& of_model(std::string_view id) { return entry_of(models, id); }
  void count_failure(std::string_view why) { ++entry_of(failures, why); }

  void count_end(RunStatus status) { ++runs_ended[static_cast<std::size_t>(status)]; }
  std::uint64_t ended(RunStatus status) const {
    return runs_ended[static_cast<std::size_t>(status)];
  }

 private:
  template <class Map>
  static typename Map::mapped_type& entry_of(Map& counts, std::string_view name) {
    auto known = counts.find(name);
    if (known != counts.end()) return known->second;
    return counts[std::string(counts.size() < kNamesMax ? name : kOthers)];
  }
};

}  // namespace errand::agent

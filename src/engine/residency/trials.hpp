#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "run/ids.hpp"

// Finding the run that brings the process down, without failing the runs that were merely there.
//
// A process that takes runs over keeps a record of which of them it is trying. If it is killed, the
// next one suspects exactly these: it holds them back, and tries them in groups that halve with
// every kill, until the culprit is alone.
namespace errand::engine {

struct Suspicion {
  int kills = 0;    // processes that were killed while the run was on trial
  int strikes = 0;  // kills during trials of this run alone

  friend bool operator==(const Suspicion&, const Suspicion&) = default;
};
using Suspects = std::map<RunId, Suspicion>;

// What a process writes down before it goes on.
struct Trial {
  Suspects suspects;            // runs that earlier kills made suspect
  bool is_everyone_on = false;  // all runs that were taken over, save the suspects
  std::vector<RunId> on;        // the suspects on trial

  friend bool operator==(const Trial&, const Trial&) = default;
};

std::string to_json(const Trial& trial);
// internal: the text is none that to_json made.
Result<Trial> parse_trial(std::string_view text);

// How the process that kept the record ended.
enum class ProcessEnd { killed, left };

// The suspicion against a run that this process took over from the process that kept the record.
Suspicion suspicion_of(const Trial& trial, const RunId& run, ProcessEnd end);

// The order in which suspects are tried: the least suspicious first. Of those with the same number
// of kills, every kill halves how many are tried together.
std::vector<std::vector<RunId>> plan_trials(const Suspects& suspects);

}  // namespace errand::engine

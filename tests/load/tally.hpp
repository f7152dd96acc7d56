#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "json/write.hpp"
#include "load/run_client.hpp"

namespace errand::load {

using Milliseconds = std::chrono::duration<double, std::milli>;

// What all workers of a scenario count together.
struct Tally {
  std::size_t started = 0;
  std::size_t ended = 0;
  std::size_t errors = 0;
  StreamCounts counts;
  std::vector<double> latencies_ms;
  std::vector<double> delays_ms;  // of deltas

  void add(const StreamCounts& more);
  // How much later than the most punctual delta of its stream each one came.
  void add_delays(const std::vector<SteadyTime>& deltas, milliseconds pace);
  // A run that was begun then has ended now.
  void add_run(SteadyTime begun);
  void failed(const std::string& what);

  // The members of a report that every scenario has, and those of runs that were read to their end.
  void report(json::ObjectWriter& out, double seconds) const;
  void report_latencies(json::ObjectWriter& out, double seconds) const;
};

double percentile(std::vector<double> values, double part);

}  // namespace errand::load

#include "load/tally.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>

namespace errand::load {
namespace {

constexpr std::size_t kErrorsShown = 3;

}  // namespace

void Tally::add(const StreamCounts& more) {
  counts.events += more.events;
  counts.bytes += more.bytes;
  counts.answers += more.answers;
}

void Tally::add_delays(const std::vector<SteadyTime>& deltas, milliseconds pace) {
  std::vector<double> late;
  SteadyTime due;
  for (SteadyTime at : deltas) {
    late.push_back(Milliseconds(at - due).count());
    due += pace;
  }
  if (late.empty()) return;
  const double least = *std::min_element(late.begin(), late.end());
  for (double one : late) delays_ms.push_back(one - least);
}

void Tally::add_run(SteadyTime begun) {
  ++ended;
  latencies_ms.push_back(Milliseconds(std::chrono::steady_clock::now() - begun).count());
}

void Tally::failed(const std::string& what) {
  if (errors++ < kErrorsShown) std::cerr << "errand_load: " << what << '\n';
}

void Tally::report(json::ObjectWriter& out, double seconds) const {
  auto runs = static_cast<double>(std::max<std::size_t>(ended, 1));
  out.field("runs", ended)
      .field("errors", errors)
      .field("seconds", json::Value(seconds))
      .field("eventsPerRun", json::Value(static_cast<double>(counts.events) / runs))
      .field("bytesPerRun", json::Value(static_cast<double>(counts.bytes) / runs))
      .field("answers", counts.answers);
}

void Tally::report_latencies(json::ObjectWriter& out, double seconds) const {
  auto runs = static_cast<double>(std::max<std::size_t>(ended, 1));
  out.field("runsPerSecond", json::Value(runs / seconds))
      .field("p50Ms", json::Value(percentile(latencies_ms, 0.50)))
      .field("p99Ms", json::Value(percentile(latencies_ms, 0.99)));
}

double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  auto index = static_cast<std::size_t>(static_cast<double>(values.size()) * part);
  auto found = values.begin() + static_cast<std::ptrdiff_t>(std::min(index, values.size() - 1));
  std::nth_element(values.begin(), found, values.end());
  return *found;
}

}  // namespace errand::load

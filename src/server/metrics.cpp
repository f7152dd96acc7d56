#include "server/metrics.hpp"

#include <unistd.h>

#include <array>
#include <fstream>

#include "base/text.hpp"
#include "base/version.hpp"

namespace errand::server {
namespace {

using Kind = MetricsWriter::Kind;
using engine::Place;

struct NamedPlace {
  Place place;
  std::string_view name;
};
constexpr auto kNamedPlaces = std::to_array<NamedPlace>({{Place::claimed, "claimed"},
                                                         {Place::loading, "loading"},
                                                         {Place::live, "live"},
                                                         {Place::waiting, "waiting"},
                                                         {Place::resting, "resting"},
                                                         {Place::suspect, "suspect"},
                                                         {Place::queued, "queued"}});

// 0 if the system does not tell.
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  if (!(file >> size >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void write_http(MetricsWriter& out, const net::HttpServer::Counts& http,
                const RequestCounts& requests) {
  out.metric("errand_http_connections", Kind::gauge, "Open connections of clients.");
  out.value(http.connections);
  out.metric("errand_http_event_streams", Kind::gauge, "Open event streams.");
  out.value(http.event_streams);
  out.metric("errand_http_body_bytes", Kind::gauge,
             "Bytes of request bodies that are being read or answered.");
  out.value(http.body_bytes);
  out.metric("errand_http_requests_total", Kind::counter, "Requests that were read.");
  out.value(http.requests);
  out.metric("errand_http_responses_total", Kind::counter, "Answers of the API by status.");
  for (const auto& [status, count] : requests.by_status) {
    out.value("status", std::to_string(status), count);
  }
  out.metric("errand_http_rate_limited_total", Kind::counter,
             "Requests that were refused because their key had made too many.");
  out.value(requests.rate_limited);
}

void write_runs(MetricsWriter& out, const engine::Engine& engine) {
  out.metric("errand_runs", Kind::gauge, "Unfinished runs of this process by where they are.");
  for (const NamedPlace& one : kNamedPlaces) {
    out.value("place", one.name, engine.count(one.place));
  }
  out.metric("errand_runs_in_flight", Kind::gauge, "Runs that count against runsInFlight.");
  out.value(engine.slots().in_flight());
  out.metric("errand_runs_queued", Kind::gauge, "Runs that wait for a slot.");
  out.value(engine.slots().waiting());
  out.metric("errand_model_turns", Kind::gauge, "Turns with models that are going on.");
  out.value(engine.turns().turns());
  out.metric("errand_model_turns_waiting", Kind::gauge,
             "Turns that wait for a connection to their model, or for the memory of files.");
  out.value(engine.turns().waiting());
  const agent::Counters& counters = engine.counters();
  out.metric("errand_model_calls_total", Kind::counter, "Requests to models.");
  out.value(counters.model_calls);
  out.metric("errand_log_appends_total", Kind::counter, "Segments appended to logs of runs.");
  out.value(counters.appends);
  out.metric("errand_durable_waits_total", Kind::counter, "Waits for a commit of the store.");
  out.value(counters.durable_waits);
}

}  // namespace

void MetricsWriter::metric(std::string_view name, Kind kind, std::string_view help) {
  name_ = name;
  append(out_, "# HELP ", name, " ", help, "\n# TYPE ", name, " ",
         kind == Kind::counter ? "counter" : "gauge", "\n");
}

void MetricsWriter::value(std::uint64_t number) {
  append(out_, name_, " ", number, "\n");
}

void MetricsWriter::value(std::string_view label, std::string_view word, std::uint64_t number) {
  append(out_, name_, "{", label, "=\"", word, "\"} ", number, "\n");
}

std::string metrics_text(const engine::Engine& engine, const net::HttpServer::Counts& http,
                         const RequestCounts& requests) {
  MetricsWriter out;
  out.metric("errand_build_info", Kind::gauge, "The version of the server.");
  out.value("version", version(), 1);
  out.metric("process_resident_memory_bytes", Kind::gauge, "Memory of the process.");
  out.value(resident_bytes());
  write_http(out, http, requests);
  write_runs(out, engine);
  return out.text();
}

}  // namespace errand::server

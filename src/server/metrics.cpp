#include "server/metrics.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <charconv>
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

std::string number_text(double number) {
  std::array<char, 32> text{};
  auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

// Returns 0 if the system does not report it.
std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  if (!(file >> size >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  constexpr double kMicros = 1e6;
  auto total = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / kMicros;
  };
  return total(usage.ru_utime) + total(usage.ru_stime);
}

std::uint64_t open_files() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (!folder) return 0;
  std::uint64_t count = 0;
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] != '.') ++count;
  }
  ::closedir(folder);
  return count - 1;  // without the opened folder itself
}

std::optional<std::uint64_t> disk_free_bytes(const std::string& path) {
  struct statvfs disk{};
  if (path.empty() || ::statvfs(path.c_str(), &disk) != 0) return {};
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

std::optional<std::uint64_t> size_of(const std::string& path) {
  struct stat file{};
  if (path.empty() || ::stat(path.c_str(), &file) != 0) return {};
  return static_cast<std::uint64_t>(file.st_size);
}

void write_process(MetricsWriter& out, const ProcessFacts& process) {
  out.metric("errand_build_info", Kind::gauge, "The version of the server.");
  out.value("version", version(), 1);
  out.metric("process_resident_memory_bytes", Kind::gauge, "Memory of the process.");
  out.value(process.resident_bytes);
  out.metric("process_cpu_seconds_total", Kind::counter, "CPU time of the process.");
  out.value(process.cpu_seconds);
  out.metric("process_open_fds", Kind::gauge, "Open file descriptors.");
  out.value(process.open_files);
  out.metric("process_start_time_seconds", Kind::gauge, "When the process began, since 1970.");
  out.value(process.started_at);
  out.metric("errand_loop_lag_seconds", Kind::gauge,
             "How long the latest ready work has waited for the event loop.");
  out.value(process.loop_lag_seconds);
  if (process.disk_free_bytes) {
    out.metric("errand_disk_free_bytes", Kind::gauge,
               "Free space on the disk of the data directory.");
    out.value(*process.disk_free_bytes);
  }
  if (!process.database_bytes) return;
  out.metric("errand_database_bytes", Kind::gauge, "Size of the database file.");
  out.value(*process.database_bytes);
  out.metric("errand_database_log_bytes", Kind::gauge, "Size of the database's write-ahead log.");
  out.value(process.log_bytes);
}

void write_loop(MetricsWriter& out, const LoopWatch& loop) {
  out.metric("errand_loop_longest_task_cpu_seconds", Kind::gauge,
             "CPU time of the longest task of the event loop since the start.");
  out.value(std::chrono::duration<double>(loop.longest()).count());
  out.histogram("errand_loop_task_cpu_seconds",
                "CPU time of tasks of the event loop that took a millisecond or longer.",
                loop.long_tasks());
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
  out.metric("errand_http_refused_total", Kind::counter,
             "Requests that were refused because of their credential or its scopes.");
  for (const auto& [why, count] : requests.by_refusal) out.value("reason", why, count);
  out.metric("errand_http_rate_limited_total", Kind::counter,
             "Requests that were refused because their key had made too many.");
  out.value(requests.rate_limited);
  out.histogram("errand_http_request_duration_seconds",
                "From a whole request to its answer, long polls included.", http.durations);
}

void write_limits(MetricsWriter& out, const std::vector<LimitValue>& limits,
                  const RequestCounts& requests) {
  out.metric("errand_limit", Kind::gauge, "The limits of this server that are set.");
  for (const LimitValue& limit : limits) {
    if (limit.value) out.value("limit", limit.name, *limit.value);
  }
  out.metric("errand_limit_rejections_total", Kind::counter,
             "Requests that were refused, by the limit that they met.");
  for (const auto& [limit, count] : requests.by_limit) out.value("limit", limit, count);
}

void write_connected(MetricsWriter& out, const ConnectedTally& connected) {
  out.metric("errand_rooms", Kind::gauge, "Rooms with somebody in them.");
  out.value(connected.rooms);
  out.metric("errand_room_participants", Kind::gauge, "Participants of all rooms.");
  out.value(connected.participants);
  out.metric("errand_mcp_sessions", Kind::gauge, "Sessions of MCP clients.");
  out.value(connected.mcp_sessions);
  out.metric("errand_mcp_requests", Kind::gauge,
             "Requests of MCP clients that are under way outside of sessions.");
  out.value(connected.mcp_requests);
}

void write_sessions(MetricsWriter& out, const MetricsSources& from) {
  const agent::Counters& counters = from.engine.counters();
  out.metric("errand_sessions_created_total", Kind::counter, "Sessions that were created.");
  out.value(counters.sessions_created);
  out.metric("errand_session_messages_total", Kind::counter,
             "Messages of sessions, each of which is a run.");
  out.value(counters.session_messages);
  if (!from.messages_waiting) return;
  out.metric("errand_session_messages_waiting", Kind::gauge,
             "Messages that wait for another run of their session to end.");
  out.value(*from.messages_waiting);
}

void write_spans(MetricsWriter& out, const SpanTally& spans) {
  out.metric("errand_spans_sent_total", Kind::counter, "Spans that the collector has taken.");
  out.value(spans.sent);
  out.metric("errand_spans_dropped_total", Kind::counter,
             "Spans that were dropped: too many waited, or the collector did not take them.");
  out.value(spans.dropped);
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
  out.metric("errand_model_turns", Kind::gauge, "Model turns in progress.");
  out.value(engine.turns().turns());
  out.metric("errand_model_turns_waiting", Kind::gauge,
             "Turns that wait for a connection to their model, or for the memory of files.");
  out.value(engine.turns().waiting());
  out.metric("errand_model_file_bytes", Kind::gauge,
             "Memory that the files of the turns in progress take.");
  out.value(engine.turns().file_bytes());
  const agent::Counters& counters = engine.counters();
  out.metric("errand_runs_created_total", Kind::counter, "Runs that were created.");
  out.value(counters.runs_created);
  out.metric("errand_runs_ended_total", Kind::counter, "Runs that have ended, by status.");
  for (RunStatus status : {RunStatus::succeeded, RunStatus::failed, RunStatus::cancelled}) {
    out.value("status", to_string(status), counters.ended(status));
  }
  out.metric("errand_runs_failed_total", Kind::counter,
             "Runs that have failed, by the subtype of their result or the class of their error.");
  for (const auto& [why, count] : counters.failures) out.value("reason", why, count);
  out.metric("errand_runs_removed_total", Kind::counter,
             "Ended runs that were removed because they were old.");
  out.value(counters.runs_removed);
}

void write_models(MetricsWriter& out, const agent::Counters& counters) {
  out.metric("errand_model_requests_total", Kind::counter, "Requests by model.");
  for (const auto& [id, model] : counters.models) out.value("model", id, model.calls);
  out.metric("errand_model_errors_total", Kind::counter, "Requests that failed, by model.");
  for (const auto& [id, model] : counters.models) out.value("model", id, model.failures);
  out.metric("errand_model_seconds_total", Kind::counter, "Time of answers, by model asked.");
  for (const auto& [id, model] : counters.models) {
    out.value({{.name = "model", .word = id}}, std::chrono::duration<double>(model.time).count());
  }
  out.metric("errand_model_tokens_total", Kind::counter, "Tokens by the model that answered.");
  for (const auto& [id, model] : counters.models) {
    auto tokens = [&](std::string_view kind, std::int64_t count) {
      out.value({{.name = "model", .word = id}, {.name = "kind", .word = kind}},
                static_cast<std::uint64_t>(count));
    };
    tokens("input", model.tokens.input_tokens);
    tokens("cached", model.tokens.cached_tokens);
    tokens("output", model.tokens.output_tokens);
    tokens("reasoning", model.tokens.reasoning_tokens);
  }
}

void write_work(MetricsWriter& out, const agent::Counters& counters) {
  out.metric("errand_model_calls_total", Kind::counter, "Requests to models.");
  out.value(counters.model_calls);
  out.metric("errand_model_failures_total", Kind::counter, "Requests that models failed.");
  out.value(counters.model_failures);
  out.metric("errand_model_retries_total", Kind::counter, "Requests that were made again.");
  out.value(counters.model_retries);
  out.histogram("errand_model_duration_seconds", "From a request to the end of the answer.",
                counters.model_times);
  const Usage& tokens = counters.tokens;
  out.metric("errand_tokens_total", Kind::counter,
             "Tokens that models have reported; cached are part of input, reasoning of output.");
  out.value("kind", "input", static_cast<std::uint64_t>(tokens.input_tokens));
  out.value("kind", "cached", static_cast<std::uint64_t>(tokens.cached_tokens));
  out.value("kind", "output", static_cast<std::uint64_t>(tokens.output_tokens));
  out.value("kind", "reasoning", static_cast<std::uint64_t>(tokens.reasoning_tokens));
  out.metric("errand_tool_calls_total", Kind::counter, "Calls of tools by kind.");
  for (const auto& [kind, counts] : counters.tool_calls) out.value("kind", kind, counts.calls);
  out.metric("errand_tool_failures_total", Kind::counter, "Calls of tools that failed, by kind.");
  for (const auto& [kind, counts] : counters.tool_calls) out.value("kind", kind, counts.failures);
  out.metric("errand_log_appends_total", Kind::counter, "Segments appended to logs of runs.");
  out.value(counters.appends);
  out.metric("errand_durable_waits_total", Kind::counter, "Waits for a commit of the store.");
  out.value(counters.durable_waits);
  out.metric("errand_store_commits_waiting", Kind::gauge, "Segments that wait for their commit.");
  out.value(counters.commits_waiting);
  out.histogram("errand_store_commit_duration_seconds",
                "From a segment of a run's log to its commit.", counters.commit_times);
}

void write_store(MetricsWriter& out, const StoreCounts& store) {
  out.metric("errand_store_commits_total", Kind::counter, "Commits of the database.");
  out.value(store.commits);
  out.metric("errand_store_writes_total", Kind::counter,
             "Writes that commits of the database made durable, several each under load.");
  out.value(store.writes);
  out.metric("errand_store_pages_total", Kind::counter,
             "Pages of 4 KB that commits wrote to the database's write-ahead log.");
  out.value(store.pages);
  out.metric("errand_store_waiting_bytes", Kind::gauge,
             "Bytes of writes that wait for a commit of the database.");
  out.value(store.waiting_bytes);
}

}  // namespace

void MetricsWriter::metric(std::string_view name, Kind kind, std::string_view help) {
  static constexpr std::array<std::string_view, 3> kTypes = {"counter", "gauge", "histogram"};
  name_ = name;
  append(out_, "# HELP ", name, " ", help, "\n# TYPE ", name, " ",
         kTypes[static_cast<std::size_t>(kind)], "\n");
}

void MetricsWriter::value(std::uint64_t number) {
  append(out_, name_, " ", number, "\n");
}

void MetricsWriter::value(double number) {
  append(out_, name_, " ", number_text(number), "\n");
}

void MetricsWriter::value(std::string_view label, std::string_view word, std::uint64_t number) {
  value({{.name = label, .word = word}}, number);
}

void MetricsWriter::value(std::initializer_list<Label> labels, std::uint64_t number) {
  begin_value(labels);
  append(out_, number, "\n");
}

void MetricsWriter::value(std::initializer_list<Label> labels, double number) {
  begin_value(labels);
  append(out_, number_text(number), "\n");
}

void MetricsWriter::begin_value(std::initializer_list<Label> labels) {
  append(out_, name_, "{");
  bool is_first = true;
  for (const Label& label : labels) {
    append(out_, is_first ? "" : ",", label.name, "=\"");
    is_first = false;
    for (char c : label.word) {
      if (c == '\n') {
        out_ += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') out_.push_back('\\');
      out_.push_back(c);
    }
    out_.push_back('"');
  }
  out_ += "} ";
}

void MetricsWriter::histogram(std::string_view name, std::string_view help,
                              const DurationHistogram& times) {
  metric(name, Kind::histogram, help);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < times.buckets.size(); ++i) {
    count += times.buckets[i];
    const bool is_last = i == DurationHistogram::kBounds.size();
    append(out_, name, "_bucket{le=\"",
           is_last ? std::string("+Inf") : number_text(DurationHistogram::kBounds[i]), "\"} ",
           count, "\n");
  }
  append(out_, name, "_sum ", number_text(std::chrono::duration<double>(times.sum).count()), "\n",
         name, "_count ", count, "\n");
}

ProcessFacts process_facts(const std::string& data, const std::string& database) {
  return {.cpu_seconds = cpu_seconds(),
          .resident_bytes = resident_bytes(),
          .open_files = open_files(),
          .disk_free_bytes = disk_free_bytes(data),
          .database_bytes = size_of(database),
          .log_bytes = size_of(cat(database, "-wal")).value_or(0)};
}

std::string metrics_text(const MetricsSources& from) {
  MetricsWriter out;
  write_process(out, from.process);
  if (from.loop) write_loop(out, *from.loop);
  write_http(out, from.http, from.requests);
  write_limits(out, from.limits, from.requests);
  write_runs(out, from.engine);
  write_sessions(out, from);
  write_work(out, from.engine.counters());
  write_store(out, from.engine.store().counts());
  write_models(out, from.engine.counters());
  if (from.connected) write_connected(out, *from.connected);
  if (from.spans) write_spans(out, *from.spans);
  return out.text();
}

}  // namespace errand::server

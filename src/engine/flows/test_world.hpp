#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "base/assert.hpp"
#include "base/text.hpp"
#include "engine/children/agent_tools.hpp"
#include "engine/engine.hpp"
#include "engine/flows/test_model.hpp"
#include "engine/flows/test_tools.hpp"
#include "engine/history/check.hpp"
#include "json/parse.hpp"
#include "llm/scripted/scripted_model.hpp"
#include "run/log/event.hpp"
#include "store/memory/memory_store.hpp"
#include "store/memory/test_faulty_store.hpp"
#include "store/segment_events.hpp"
#include "support/held_pool.hpp"
#include "support/manual_clock.hpp"

// A whole engine in one thread, on time that only the test moves, for tests of what survives.
namespace errand::engine::testing {

// Where the process dies. Steps are counted over everything that is written or has an effect.
struct Crash {
  int at = 0;  // 0: never
  int step = 0;
  bool is_dead() const { return at > 0 && step >= at; }
  // The n-th step is the last one: true from then on.
  bool reached() {
    ++step;
    return is_dead();
  }
};

// What outlives a process.
struct Disk {
  std::shared_ptr<MemoryStoreData> data = make_memory_store_data();
  ToolLog careless;  // neither read-only nor idempotent
  ToolLog idempotent;
  ToolLog noting;                                                            // resumable
  std::string_view child_script = R"({"turns":[{"text":["child done"]}]})";  // of the model "child"
  ManualClock clock{1'800'000'000'000};
  std::uint64_t random = 0;
};

enum class WithPool { no, yes };

// One process: the whole object graph on a disk.
class World final {
 public:
  // With a lease's length the world is one of many on its disk. A pool is held until the test lets
  // it go.
  World(Disk& disk, std::string_view script, Crash crash = {}, Limits limits = {},
        std::optional<milliseconds> lease = {}, std::string_view model_id = "scripted",
        WithPool with_pool = WithPool::no)
      : pool(with_pool == WithPool::yes ? std::optional<HeldPool>(std::in_place) : std::nullopt),
        crash(crash),
        disk_(disk),
        memory_(disk.data, disk.clock, lease),
        store(memory_, [this](FaultyStore::Operation op) { return decide(op); }),
        home(io),
        log_(disk.clock, 2, LogFormat::text),
        ids_(disk.clock, [&disk] { return ++disk.random; }),
        records(store, ids_, keys_),
        catalog(make_models(script, std::string(model_id)), std::string(model_id)),
        engine({.home = home,
                .store = store,
                .clock = disk.clock,
                .timers = timers,
                .ids = ids_,
                .catalog = catalog,
                .tools = sources,
                .log = log_,
                .records = &records,
                .pool = pool ? pool->get() : nullptr},
               limits),
        agent_tools_(engine),
        tasks(home.executor(),
              [this](const char*, const std::string& what) { bugs.push_back(what); }) {
    sources.add("program", {"host"}, tools);
    sources.add_stored("agents", {"agent"}, agent_tools_);
    add_tool("careless", {.parallel_safe = false}, disk.careless);
    add_tool("idempotent", {.idempotent = true}, disk.idempotent);
    ToolDecl noting{.name = "noting", .site = ToolSite::host, .annotations = {.resumable = true}};
    tools.tools["noting"] =
        std::make_shared<NotingTool>(noting, disk.noting, [this] { this->crash.reached(); });
    add_asking_tool("asking", {.idempotent = true});
    add_asking_tool("careless_asking", {});
    add_showing_tool("showing", ToolOutcome::Kind::ok);
    add_showing_tool("fatal", ToolOutcome::Kind::fatal);
    ToolDecl slow{.name = "slow", .site = ToolSite::host};
    tools.tools["slow"] = std::make_shared<SlowTool>(slow, timers, slow_tools_ended);
  }

  ~World() {
    tasks.cancel(CancelReason::shutdown);
    if (pool) pool->finish();
    settle();
    TaskGroup ending(home.executor(), [](const char*, const std::string&) {});
    ending.spawn("stop", engine.stop());
    settle();
    ending.cancel(CancelReason::shutdown);  // a killed process never gets to say that it leaves
    settle();
  }

  // Runs everything that needs no time to pass.
  void settle() {
    io.restart();
    while (io.poll() > 0) {
    }
  }

  // Runs only so much of it.
  void step(int handlers) {
    io.restart();
    for (int i = 0; i < handlers; ++i) io.poll_one();
  }

  // The result of a task that needs no time to pass.
  template <class T>
  T result_of(Task<T> task) {
    struct Keeper {
      static Task<void> keep(Task<T> from, std::optional<T>* out) {
        *out = co_await std::move(from);
      }
    };
    std::optional<T> out;
    tasks.spawn("result", Keeper::keep(std::move(task), &out));
    settle();
    return std::move(out.value());
  }

  // Lets time go by in this process alone; the clock is the caller's to move.
  void pass(milliseconds duration) {
    settle();
    timers.advance(duration);
    settle();
  }

  // Runs, letting time jump to the next deadline whenever nothing else is left to do.
  void run_until(const std::function<bool()>& done) {
    settle();
    constexpr std::chrono::hours kLongEnough{48};  // some timers come again and again
    const SteadyTime end = timers.now() + kLongEnough;
    while (!done() && !crash.is_dead() && timers.now() < end) {
      SteadyTime before = timers.now();
      if (!timers.fire_next()) return;
      disk_.clock.pass(std::chrono::duration_cast<milliseconds>(timers.now() - before));
      settle();
    }
  }

  asio::io_context io{1};
  std::optional<HeldPool> pool;  // ends before the loop that its thread posts to
  Crash crash;
  bool is_killed = true;  // when it ends, rather than stopped on purpose
  std::function<bool(const llm::TurnRequest&)> refuses;  // what the model will not answer
  OutputMechanism mechanism = OutputMechanism::plain;    // of the model
  std::optional<AnsweredBy> answered_by;                 // the fallback model that answers
  std::function<FaultyStore::Fault(FaultyStore::Operation)> fault;  // when no crash is asked for

 private:
  FaultyStore::Fault decide(FaultyStore::Operation op) {
    using Fault = FaultyStore::Fault;
    using Kind = FaultyStore::Kind;
    if (op.kind == Kind::leave) return is_killed ? Fault::stop_before : Fault::none;
    if (op.kind == Kind::read) return fault && !crash.is_dead() ? fault(op) : Fault::none;
    if (crash.is_dead() || crash.reached()) return Fault::stop_before;
    if (crash.reached()) return Fault::stop_after;
    return fault ? fault(op) : Fault::none;
  }

  std::vector<CatalogModel> make_models(std::string_view script, const std::string& id) {
    std::vector<CatalogModel> models;
    models.push_back(make_model(script, id));
    models.push_back(make_model(disk_.child_script, "child"));
    return models;
  }

  CatalogModel make_model(std::string_view script, const std::string& id) {
    auto scripted = llm::make_scripted_model(*llm::parse_script(script), timers, home.executor());
    return {.info = {.id = id, .provider = "scripted", .vendor_model_id = "scripted"},
            .model = std::make_unique<WatchedModel>(
                std::move(scripted),
                [this](const llm::TurnRequest& request) {
                  ++asked;
                  asked_about.push_back(request.messages[0]->text);
                  look_at_files(request);
                  crash.reached();
                  return !refuses || !refuses(request);
                },
                mechanism, answered_by, reads)};
  }

  void look_at_files(const llm::TurnRequest& request) {
    shown_files.clear();
    for (const llm::MessagePtr& message : request.messages) {
      for (const FilePart& file : message->files) look_at_file(request, file);
      for (const ToolResultPart& result : message->results) {
        for (const FilePart& file : result.files) look_at_file(request, file);
      }
    }
  }

  void look_at_file(const llm::TurnRequest& request, const FilePart& file) {
    std::optional<std::string> bytes;
    if (request.files && request.files->bytes.contains(file.sha256)) {
      bytes = request.files->bytes.at(file.sha256);
    }
    shown_files.push_back(cat(file.filename, ": ", bytes.value_or("nothing")));
  }

  void add_tool(const std::string& name, ToolAnnotations annotations, ToolLog& log) {
    ToolDecl decl{.name = name, .site = ToolSite::host, .annotations = annotations};
    tools.tools[name] = std::make_shared<CountingTool>(decl, log, [this] { crash.reached(); });
  }

  void add_asking_tool(const std::string& name, ToolAnnotations annotations) {
    ToolDecl decl{.name = name, .site = ToolSite::host, .annotations = annotations};
    tools.tools[name] = std::make_shared<AskingTool>(decl, [this] { crash.reached(); });
  }

  void add_showing_tool(const std::string& name, ToolOutcome::Kind kind) {
    ToolDecl decl{.name = name, .site = ToolSite::host, .annotations = {.idempotent = true}};
    tools.tools[name] = std::make_shared<ShowingTool>(decl, kind, [this] { crash.reached(); });
  }

  Disk& disk_;
  MemoryStore memory_;

 public:
  int asked = 0;
  int reads = 0;                         // of what the model answers
  std::vector<std::string> asked_about;  // the prompts of what the model was asked, in order
  std::vector<std::string> shown_files;  // with the last question, each with its bytes
  int slow_tools_ended = 0;
  std::vector<std::string> bugs;
  FaultyStore store;
  Home home;
  ManualTimers timers;

 private:
  Log log_;
  IdSource ids_;
  PassingKeys keys_;

 public:
  RecordBooks records;
  ToolTable tools;
  ToolSources sources;
  Catalog catalog;
  Engine engine;

 private:
  AgentTools agent_tools_;

 public:
  TaskGroup tasks;
};

// Time goes by for all worlds, a little at a time.
inline void pass(Disk& disk, std::initializer_list<World*> worlds, milliseconds duration) {
  constexpr milliseconds kStep{250};
  for (milliseconds left = duration; left.count() > 0; left -= kStep) {
    milliseconds step = std::min(left, kStep);
    disk.clock.pass(step);
    for (World* world : worlds) world->pass(step);
  }
}

inline Principal someone() {
  return {.workspace = *WorkspaceSlug::parse("default"), .key = *KeyId::parse("key_1")};
}

inline Spec spec_with_tools(std::vector<ToolRef> tools) {
  Spec spec;
  spec.prompt = "go";
  spec.tools = share_tools(std::move(tools));
  return spec;
}

// Asks for an object with a string "city" and nothing else.
inline OutputSchema city_schema(Enforcement enforcement = Enforcement::best_effort) {
  return {.name = "place",
          .schema = share_schema({{"type", "object"},
                                  {"properties", {{"city", {{"type", "string"}}}}},
                                  {"required", json::Array{"city"}},
                                  {"additionalProperties", false}}),
          .enforcement = enforcement};
}

// A file as a caller sends it.
inline FilePart sent_file(std::string name, std::string bytes) {
  return {.filename = std::move(name),
          .mime_type = "text/plain",
          .size = static_cast<std::int64_t>(bytes.size()),
          .bytes = std::make_shared<const std::string>(std::move(bytes))};
}

inline Spec spec_with_files(std::vector<ToolRef> tools, std::vector<FilePart> files) {
  Spec spec;
  spec.messages.emplace_back().text = "go";
  spec.messages.back().files = std::move(files);
  spec.tools = share_tools(std::move(tools));
  return spec;
}

inline ToolRef client_tool(std::string name, bool read_only = false) {
  return LocalTool{.name = std::move(name), .annotations = {.read_only = read_only}};
}

inline std::string type_of_line(std::string_view line) {
  return std::string(type_of(parse_event(line)->event));
}

inline std::vector<std::string> lines_of(const std::vector<SegmentPtr>& segments, EventSeq after) {
  std::vector<std::string> lines;
  for (const SegmentPtr& segment : segments) {
    for_each_event(*segment, after, [&](std::string_view line) { lines.emplace_back(line); });
  }
  return lines;
}

// A client that outlives servers: asks for one run under a key, reads along, answers every call,
// and comes back where it was.
struct Client {
  Spec spec;
  bool answers = true;
  bool claims = false;            // every call, before it answers
  std::size_t cancels_after = 0;  // so many events; 0: never
  std::vector<FilePart> files;    // that go along with every answer
  std::optional<RunId> run;
  std::vector<std::string> seen;       // every event line, joined over all connections
  std::set<std::string> acknowledged;  // calls whose answer was accepted
  std::set<std::string> pending;       // calls seen and not known to be answered
  bool done = false;

  Task<void> go(World* world) {
    if (!run) {
      auto created =
          co_await world->engine.create(someone(), spec, {.key = "k", .fingerprint = "f"});
      if (!created) co_return;
      run = *created;
    }
    auto reader =
        co_await world->engine.subscribe(someone(), *run, static_cast<EventSeq>(seen.size()));
    if (!reader) co_return;
    if (!(*reader)->is_over()) co_await cancel_if_due(world);
    co_await answer_pending(world);
    while (!done) {
      auto batch = co_await (*reader)->next(SteadyTime::max());
      for (std::string& line : lines_of(batch.segments, batch.after)) take(std::move(line));
      if (batch.state == Subscription::Batch::State::broken) co_return;
      bool is_over = batch.state == Subscription::Batch::State::ended;
      if (!is_over) co_await cancel_if_due(world);
      co_await answer_pending(world);
      done = is_over;
    }
  }

 private:
  void take(std::string line) {
    json::Value event = *json::parse(line);
    if (event.at("type") == "local_tool_call") {
      pending.insert(std::string(event.at("toolUseId").as_string()));
    }
    seen.push_back(std::move(line));
  }

  Task<void> answer_pending(World* world) {
    if (!answers) co_return;
    for (const std::string& id : std::set<std::string>(pending)) {
      std::string claim;
      if (claims) claim = co_await claim_call(world, id);
      auto answered =
          co_await world->engine.answer(someone(), *run,
                                        {.tool_use_id = id,
                                         .answer = {.text = "answer to " + id, .files = files},
                                         .claim_id = claim});
      if (answered) acknowledged.insert(id);
      if (answered || answered.error().code() != ErrorCode::unavailable) pending.erase(id);
    }
  }

  // The claim's id. A claim of a former process, whose client has lost it, has to run out.
  static Task<std::string> claim_call(World* world, std::string id) {
    constexpr milliseconds kTime{10'000};
    for (;;) {
      auto claimed = co_await world->engine.claim_call(someone(), id, kTime);
      if (claimed) co_return claimed->box.claim_id;
      if (claimed.error().reason() != "claimed") co_return "";
      co_await world->timers.sleep_until(world->timers.now() + kTime);
    }
  }

  Task<void> cancel_if_due(World* world) {
    if (cancels_after == 0 || seen.size() < cancels_after) co_return;
    auto cancelled = co_await world->engine.cancel(someone(), *run);
    ERRAND_ASSERT(cancelled.has_value());
  }
};

inline RunKey key_of(const RunId& run) {
  return {.workspace = someone().workspace, .run = run};
}

// Reads from the disk, past any process. `read` makes a task from a store.
template <class T, class Read>
T read_disk(Disk& disk, Read read) {
  asio::io_context io(1);
  MemoryStore store(disk.data, disk.clock);
  std::optional<T> value;
  struct Keep {
    static Task<void> keep(Task<Result<T>> task, std::optional<T>* out) {
      auto result = co_await std::move(task);
      out->emplace(std::move(result).value());
    }
  };
  TaskGroup tasks(io.get_executor(), [](const char*, const std::string&) {});
  tasks.spawn("read", Keep::keep(read(&store), &value));
  io.run();
  return std::move(*value);
}

// All event lines of a run.
inline std::vector<std::string> log_of(Disk& disk, const RunId& run) {
  auto segments = read_disk<std::vector<SegmentPtr>>(
      disk, [&](Store* store) { return store->read_events(key_of(run), 0, SIZE_MAX); });
  return lines_of(segments, 0);
}

// Everything that is kept of a run.
inline StoredRun stored_run(Disk& disk, const RunId& run) {
  return {.row = read_disk<RunRow>(disk, [&](Store* store) { return store->find(key_of(run)); }),
          .segments = read_disk<std::vector<SegmentPtr>>(
              disk, [&](Store* store) { return store->read_log(key_of(run), -1, SIZE_MAX); }),
          .mail = read_disk<std::vector<Mailbox>>(
              disk, [&](Store* store) { return store->mailboxes(key_of(run)); })};
}

// The faults in the stored data, one line each.
inline std::vector<std::string> findings_of(Disk& disk) {
  auto report =
      read_disk<CheckReport>(disk, [](Store* store) { return check_store(store, nullptr); });
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings) {
    lines.push_back(cat(finding.run.view(), " ", finding.rule, ": ", finding.sentence));
  }
  return lines;
}

}  // namespace errand::engine::testing

#include "engine/history/replay.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "base/text.hpp"
#include "engine/engine.hpp"
#include "engine/history/played_parts.hpp"
#include "engine/history/recording.hpp"
#include "engine/residency/whole_log.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/question_id.hpp"
#include "store/memory/memory_store.hpp"

namespace errand::engine {
namespace {

// Longer than any pause of the engine; an event that takes longer will not come.
constexpr milliseconds kPatience{60'000};
// Nothing times out by itself: timeouts are played as they were recorded.
constexpr std::chrono::hours kNoTimeout{24 * 365};

// The same for the timeouts that tools declare.
void forget_timeouts(CreatedEntry& created) {
  std::vector<ToolDecl> tools = *created.tools;
  for (ToolDecl& tool : tools) tool.annotations.timeout = kNoTimeout;
  created.tools = share_decls(std::move(tools));
  std::vector<ToolRef> refs = created.spec.tools->refs;
  for (ToolRef& ref : refs) {
    if (auto* local = std::get_if<LocalTool>(&ref)) local->annotations.timeout.reset();
  }
  created.spec.tools = share_tools(std::move(refs));
}

template <class T>
Task<void> keep(Task<Result<T>> task, std::optional<Result<T>>* out) {
  auto result = co_await std::move(task);
  out->emplace(std::move(result));
}

// A whole engine in one thread that runs one run again.
class Player final {
 public:
  explicit Player(Recording recording)
      : recording_(std::move(recording)),
        home_(io_),
        clock_(std::get<CreatedEntry>(recording_.head.front()).at, timers_),
        store_(make_memory_store_data(), clock_),
        log_(clock_, -1, LogFormat::text),
        ids_(clock_, [this] { return ++random_; }),
        calls_(home_.executor()),
        tools_(recording_, calls_),
        catalog_(make_models(), ""),
        engine_({.home = home_,
                 .store = store_,
                 .clock = clock_,
                 .timers = timers_,
                 .ids = ids_,
                 .catalog = catalog_,
                 .tools = tools_.sources(),
                 .log = log_},
                {}),
        tasks_(home_.executor(), [](const char*, const std::string&) {}) {}

  ~Player() {
    tasks_.cancel(CancelReason::shutdown);
    settle();
    TaskGroup ending(home_.executor(), [](const char*, const std::string&) {});
    ending.spawn("stop", engine_.stop());
    settle();
  }

  // The events that the run shows this time.
  Result<std::vector<json::Value>> play() {
    auto& created = std::get<CreatedEntry>(recording_.head.front());
    bool runs_out_of_time = recording_.end && recording_.end->subtype == "error_max_run_time";
    created.limits.local_tool_timeout = kNoTimeout;
    if (!runs_out_of_time) created.limits.run_time = kNoTimeout;
    forget_timeouts(created);
    ERRAND_TRY(auto begun, result_of(engine_.begin(someone_, recording_.head, {}, {})));
    run_ = begun.run;
    for (const RecordedNews& news : recording_.news) {
      bool taken = std::visit([this](const auto& one) { return bring(one); }, news);
      if (!taken) break;
    }
    wait_until([this] { return has_ended(); },
               runs_out_of_time ? created.limits.run_time + kPatience : kPatience);
    return read_events();
  }

 private:
  std::vector<CatalogModel> make_models() {
    auto model = std::make_unique<PlayedModel>(recording_.attempts, home_.executor());
    model_ = model.get();
    std::vector<CatalogModel> models;
    models.push_back(
        {.info = std::get<CreatedEntry>(recording_.head.front()).model, .model = std::move(model)});
    return models;
  }

  // Runs everything that needs no time to pass.
  void settle() {
    io_.restart();
    while (io_.poll() > 0) {
    }
  }

  // Advances the clock from deadline to deadline until the condition holds or the time is up.
  template <class Condition>
  bool wait_until(Condition is_so, milliseconds patience) {
    bool is_over = false;
    TimerGuard end(timers_, timers_.now() + patience, [&is_over] { is_over = true; });
    settle();
    while (!is_so() && !is_over) {
      timers_.fire_next();
      settle();
    }
    return is_so();
  }

  template <class T>
  Result<T> result_of(Task<Result<T>> task) {
    std::optional<Result<T>> result;
    tasks_.spawn("replay", keep(std::move(task), &result));
    wait_until([&] { return result.has_value(); }, kPatience);
    if (!result) return Error(ErrorCode::internal, "the replay came to a halt");
    return std::move(*result);
  }

  bool bring(const RecordedAnswer& news) {
    auto is_awaited = [&] {
      auto id = find_call(news.call);
      if (!id) return false;
      return news.site == ToolSite::host ? calls_.is_waiting(*id) : has_mailbox(*id);
    };
    if (!wait_until(is_awaited, kPatience)) return false;
    ToolUseId id = *find_call(news.call);
    if (news.site == ToolSite::host) {
      calls_.answer(id, news);
      settle();
      return true;
    }
    auto answered = result_of(
        answer(&engine_, someone_, run_, {.tool_use_id = id.str(), .answer = news.answer}));
    return answered.has_value();
  }

  bool bring(const RecordedCancel& news) {
    if (!wait_until([&] { return model_->asked() >= news.attempts; }, kPatience)) return false;
    return result_of(engine_.cancel(someone_, run_)).has_value();
  }

  static Task<Result<bool>> answer(Engine* engine, Principal who, RunId run, CallAnswer answer) {
    auto answered = co_await engine->answer(who, run, std::move(answer));
    if (!answered) co_return answered.error();
    co_return true;
  }

  // The id that the run's n-th call has in this replay.
  std::optional<ToolUseId> find_call(std::size_t n) {
    auto log = result_of(read_whole_log(&store_, {someone_.workspace, run_}));
    auto entries = log ? parse_journal(journal_of(*log)) : Result<std::vector<JournalEntry>>({});
    if (!entries) return {};
    std::size_t number = 0;
    for (std::size_t i = recording_.head.size(); i < entries->size(); ++i) {
      const auto* call = std::get_if<CallEntry>(&(*entries)[i]);
      if (call && number++ == n) return call->id;
    }
    return {};
  }

  bool has_mailbox(const ToolUseId& id) {
    auto mail = result_of(store_.mailboxes({someone_.workspace, run_}));
    return mail && std::any_of(mail->begin(), mail->end(), [&](const Mailbox& box) {
             return box.slot == id.view() && !box.filled;
           });
  }

  bool has_ended() {
    auto row = result_of(store_.find({someone_.workspace, run_}));
    return row && is_terminal(row->status);
  }

  Result<std::vector<json::Value>> read_events() {
    ERRAND_TRY(auto segments,
               result_of(store_.read_events({someone_.workspace, run_}, 0, SIZE_MAX)));
    std::vector<json::Value> events;
    for (const SegmentPtr& segment : segments) {
      for (std::string_view rest = segment->events; !rest.empty();) {
        ERRAND_TRY(auto event, json::parse(take_line(rest)));
        events.push_back(std::move(event));
      }
    }
    return events;
  }

  Recording recording_;
  const Principal someone_{.workspace = *WorkspaceSlug::parse("default"),
                           .key = *KeyId::parse("key_replay")};
  RunId run_;
  std::uint64_t random_ = 0;
  asio::io_context io_{1};
  Home home_;
  ManualTimers timers_;
  PlayClock clock_;
  MemoryStore store_;
  Log log_;
  IdSource ids_;
  PlayedCalls calls_;
  PlayedTools tools_;
  PlayedModel* model_ = nullptr;
  Catalog catalog_;
  Engine engine_;
  TaskGroup tasks_;  // last: tasks use everything above
};

// Events in the form in which they are compared: without seq, with calls numbered in the order of
// their appearance, and without repeated offers and progress reports, on which nothing depends.
class Comparable final {
 public:
  explicit Comparable(const std::vector<json::Value>& events) {
    for (const json::Value& event : events) add(event);
  }

  struct Item {
    json::Value shown;     // as the run showed it
    json::Value compared;  // what must be equal
  };
  std::vector<Item> items;

 private:
  void add(const json::Value& event) {
    json::Object plain = event.as_object();
    plain.erase("seq");
    plain.erase("childRunId");  // is derived from the id of the call
    if (plain["type"] == "tool_progress" || is_of_question(plain)) return;
    bool is_call = plain["type"] == "local_tool_call" || plain["type"] == "tool_call";
    if (json::Value* id = plain.if_contains("toolUseId")) {
      std::string name = name_of(*id);
      if (is_call && !offered_.insert(name).second) return;
      *id = name;
    }
    if (json::Value* calls = plain.if_contains("toolCalls"); calls && calls->is_array()) {
      for (json::Value& call : calls->get_array()) {
        json::Object* fields = call.if_object();
        if (json::Value* id = fields ? fields->if_contains("id") : nullptr) *id = name_of(*id);
      }
    }
    items.push_back({.shown = event, .compared = std::move(plain)});
  }

  // The call gets its recorded result, and its questions are not asked again.
  static bool is_of_question(const json::Object& event) {
    return asking_call(json::text_at(&event, "toolUseId")).has_value();
  }

  std::string name_of(const json::Value& id) {
    auto [at, is_new] = names_.emplace(json::write(id), cat("call ", names_.size() + 1));
    return at->second;
  }

  std::map<std::string, std::string> names_;
  std::set<std::string> offered_;
};

ReplayReport compare(const std::vector<json::Value>& recorded,
                     const std::vector<json::Value>& replayed) {
  auto left = Comparable(recorded).items;
  auto right = Comparable(replayed).items;
  std::size_t longer = std::max(left.size(), right.size());
  std::size_t same = 0;
  while (same < std::min(left.size(), right.size()) &&
         left[same].compared == right[same].compared) {
    ++same;
  }
  if (same == longer) return {.events = same};
  auto text_at = [same](const std::vector<Comparable::Item>& items) {
    return same < items.size() ? json::write(items[same].shown) : std::string();
  };
  return {.events = same,
          .difference = ReplayDifference{.number = same + 1,
                                         .recorded = text_at(left),
                                         .replayed = text_at(right),
                                         .following = longer - same - 1}};
}

}  // namespace

Result<ReplayReport> replay(const RunExport& run) {
  ERRAND_TRY(auto recording, read_recording(run));
  Player player(std::move(recording));
  ERRAND_TRY(auto events, player.play());
  return compare(run.events, events);
}

}  // namespace errand::engine

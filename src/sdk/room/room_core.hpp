#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <errand/room.hpp>

#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "json/schema_cache.hpp"
#include "room/client/room_client.hpp"
#include "sdk/bridge/handler_pool.hpp"
#include "sdk/bridge/handlers.hpp"
#include "sdk/bridge/pending.hpp"

namespace errand::sdk {

// A streamed call, as a thread reads it. Touched at home only.
class RoomCallCore final {
 public:
  room::RoomCallPtr call;
  bool is_answered = false;
  bool is_over = false;
};

// What a command has besides the options of a program.
struct RoomOfCommand {
  asio::io_context* loop = nullptr;  // outlives the core; null: one of its own, on a thread
  // All that the room tells without being asked. Called at home.
  std::function<void(const room::Message&)> on_event = {};
};

// Everything behind a Room: a thread with a loop, on which the participant lives, and the calls
// that other threads make and wait for. Closed by the program's own Room. A command brings its own
// loop, runs it, and calls only what is to be called at home.
class RoomCore final : public std::enable_shared_from_this<RoomCore> {
 public:
  static constexpr std::size_t kAnswerBytesMax = 64U * 1024 * 1024;  // of a call: too_large

  explicit RoomCore(v1::RoomOptions options, RoomOfCommand command = {});
  ~RoomCore();
  RoomCore(const RoomCore&) = delete;
  RoomCore& operator=(const RoomCore&) = delete;

  // Before any other call: joins the room.
  Result<void> open();
  // The same at home, for a core on another's loop, in two steps. Errors of the first are those of
  // make_room_connector.
  Result<void> prepare();
  Task<Result<void>> join();
  // Leaves the room, ends every call that waits, and waits for handlers that run. From any thread
  // but theirs.
  void close();
  // The same at home, for a core on another's loop, without waiting for handlers.
  Task<void> stop();

  // Runs a task at home and waits for its result. cancelled: the core is closed.
  template <class T>
  Result<T> wait(std::function<Task<Result<T>>()> make) {
    auto pending = std::make_shared<Pending<T>>();
    bool is_posted = post([this, pending, make = std::move(make)] {
      tasks_.spawn("room.wait", fill(make(), Promise<T>(pending)));
    });
    if (!is_posted) return closed_error();
    return pending->get();
  }
  // The same for a plain function.
  template <class T>
  Result<T> ask(std::function<T()> function) {
    auto pending = std::make_shared<Pending<T>>();
    bool is_posted = post([pending, function = std::move(function)] { pending->set(function()); });
    if (!is_posted) return closed_error();
    return pending->get();
  }
  // Does something at home, and does not wait for it. False: the core is closed.
  bool post(std::function<void()> work);

  // At home.
  room::RoomClient& client() { return *client_; }
  Task<Result<std::uint64_t>> host(std::shared_ptr<const v1::Toolkit> toolkit,
                                   v1::HostOptions options);
  // Tools that live on this home, as a public toolkit. Their arguments are checked here.
  Task<Result<std::uint64_t>> host_tools(std::string name, std::vector<ToolPtr> tools);
  Task<Result<std::vector<room::Content>>> call(room::InvokeParams params, milliseconds timeout);
  // For as long as it takes.
  Task<Result<std::vector<room::Content>>> call(room::InvokeParams params);
  Task<Result<room::Content>> call_once(room::InvokeParams params, milliseconds timeout);
  Task<Result<bool>> write(std::shared_ptr<RoomCallCore> call, room::Content item);
  Task<Result<std::optional<room::Content>>> read(std::shared_ptr<RoomCallCore> call);
  // What passes progress on to a program.
  std::function<void(const json::Object&)> progress_to(
      std::function<void(const v1::ToolProgress&)> listener);

 private:
  Task<Result<bool>> enter();
  Task<void> shut_down();
  void hear(const room::PeerMessage& message);
  void tell(std::function<void()> work);
  HandlerServices services();

  const v1::RoomOptions options_;
  const RoomOfCommand command_;
  std::optional<asio::io_context> own_loop_;
  asio::io_context& io_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  const Home home_;
  AsioTimers timers_;
  json::SchemaCache schemas_;  // of content tools and of host_tools
  Handlers handlers_;
  HandlerPool listening_{1};  // for what the program is told, in order
  std::unique_ptr<room::RoomClient> client_;
  TaskGroup tasks_;
  TaskGroup closing_;

  std::mutex mutex_;
  bool is_closed_ = false;
  std::thread thread_;
};

}  // namespace errand::sdk

#include "sdk/room/room_core.hpp"

#include <utility>

#include "async/deadline.hpp"
#include "base/text.hpp"
#include "room/client/room_outcome.hpp"
#include "room/client/room_tool.hpp"
#include "room/client/tools_host.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/handler_services.hpp"
#include "sdk/bridge/public_tool.hpp"
#include "sdk/room/content_tools.hpp"
#include "sdk/room_connector.hpp"

namespace errand::sdk {
namespace {

v1::Participant participant_of(const room::Peer& peer) {
  return {.id = peer.id, .name = peer.name(), .role = peer.role};
}

}  // namespace

HandlerServices RoomCore::services() {
  HandlerServices made = services_of(options_.handlers);
  made.room = [this] { return weak_from_this().lock(); };
  return made;
}

RoomCore::RoomCore(v1::RoomOptions options, RoomOfCommand command)
    : options_(std::move(options)),
      command_(std::move(command)),
      io_(command_.loop ? *command_.loop : own_loop_.emplace(1)),
      home_(io_),
      timers_(home_),
      handlers_(home_.executor(), timers_, options_.handlers.threads_max, services()),
      tasks_(home_.executor(), bugs_to(teller_of(options_.handlers))),
      closing_(home_.executor(), bugs_to(teller_of(options_.handlers))) {
  if (command_.loop) return;
  work_.emplace(asio::make_work_guard(io_));
  thread_ = std::thread([this] { io_.run(); });
}

RoomCore::~RoomCore() {
  close();
}

bool RoomCore::post(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  if (is_closed_) return false;
  asio::post(io_, std::move(work));
  return true;
}

Result<void> RoomCore::open() {
  auto joined = wait<bool>([this] { return enter(); });
  if (!joined) return joined.error();
  return {};
}

Task<Result<bool>> RoomCore::enter() {
  ERRAND_CO_CHECK(prepare());
  ERRAND_CO_CHECK(co_await join());
  co_return true;
}

Result<void> RoomCore::prepare() {
  ERRAND_TRY(auto connector, make_room_connector(options_.url, options_.token));
  room::RoomClient::Options options{.connector = std::move(connector),
                                    .wants_messages = true,
                                    .on_message = [this](const auto& one) { hear(one); },
                                    .on_event = command_.on_event};
  client_ = std::make_unique<room::RoomClient>(
      room::RoomClient::Deps{.home = home_.executor(),
                             .timers = timers_,
                             .on_bug = bugs_to(teller_of(options_.handlers))},
      std::move(options));
  return {};
}

Task<Result<void>> RoomCore::join() {
  client_->start();
  co_return co_await client_->joined(timers_.now() + options_.join_timeout);
}

// All work that was posted before is done, or cut off, when the loop ends.
void RoomCore::close() {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_closed_, true) || command_.loop) return;
    asio::post(io_, [this] { closing_.spawn("room.close", shut_down()); });
  }
  thread_.join();
  handlers_.close();
  listening_.close();
}

Task<void> RoomCore::stop() {
  {
    std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  co_await shut_down();
}

Task<void> RoomCore::shut_down() {
  co_await tasks_.stop(CancelReason::shutdown);
  if (client_) co_await client_->stop();
  work_.reset();
}

// Messages that the program does not listen to are lost, as the messages of rooms may be. An
// exception of the listener is a bug of the program.
void RoomCore::tell(std::function<void()> work) {
  auto log = services_of(options_.handlers).log;
  [[maybe_unused]] bool is_taken = listening_.run([work = std::move(work), log] {
    try {
      work();
    } catch (const std::exception& error) {
      log(v1::LogLevel::error, cat("a listener of a room has thrown: ", error.what()));
    } catch (...) {
      log(v1::LogLevel::error, "a listener of a room has thrown");
    }
  });
}

void RoomCore::hear(const room::PeerMessage& message) {
  if (!options_.on_message) return;
  v1::RoomMessage heard{.from = participant_of(message.from),
                        .type = message.type,
                        .message = v1::detail::from_value(json::Value(message.message)),
                        .attachment = message.attachment};
  tell([listener = options_.on_message, heard = std::move(heard)] { listener(heard); });
}

std::function<void(const json::Object&)> RoomCore::progress_to(
    std::function<void(const v1::ToolProgress&)> listener) {
  if (!listener) return {};
  return [this, listener = std::move(listener)](const json::Object& event) {
    ProgressReport report = room::progress_of(event);
    v1::ToolProgress told{.message = std::move(report.message),
                          .done = report.progress.value_or(0),
                          .total = report.total.value_or(0)};
    tell([listener, told = std::move(told)] { listener(told); });
  };
}

// ---- At home ------------------------------------------------------------------------------------

Task<Result<std::uint64_t>> RoomCore::host(std::shared_ptr<const v1::Toolkit> toolkit,
                                           v1::HostOptions options) {
  room::ToolkitOffer offer{.name = toolkit->name(),
                           .title = toolkit->title(),
                           .description = toolkit->description(),
                           .thumbnail_url = toolkit->thumbnail_url(),
                           .rules = toolkit->rules(),
                           .tools = bridge_toolkit(handlers_, *toolkit),
                           .is_public = toolkit->is_public()};
  for (v1::ContentTool& tool : options.content_tools) {
    ERRAND_CO_TRY(auto made, bridge_content_tool(*this, handlers_, schemas_, std::move(tool)));
    offer.content_tools.push_back(std::move(made));
  }
  for (const auto& [name, value] : options.annotations) offer.annotations[name] = value;
  co_return co_await client_->host(room::make_hosted_toolkit(*client_, std::move(offer)));
}

Task<Result<std::uint64_t>> RoomCore::host_tools(std::string name, std::vector<ToolPtr> tools) {
  room::ToolkitOffer offer{
      .name = std::move(name), .tools = std::move(tools), .schemas = &schemas_};
  return client_->host(room::make_hosted_toolkit(*client_, std::move(offer)));
}

Task<Result<std::vector<room::Content>>> RoomCore::call(room::InvokeParams params,
                                                        milliseconds timeout) {
  return with_deadline(timers_.now() + timeout, call(std::move(params)));
}

Task<Result<std::vector<room::Content>>> RoomCore::call(room::InvokeParams params) {
  ERRAND_CO_TRY(auto made, client_->invoke(std::move(params)));
  co_return co_await room::whole_answer(std::move(made), kAnswerBytesMax);
}

Task<Result<room::Content>> RoomCore::call_once(room::InvokeParams params, milliseconds timeout) {
  co_return co_await with_deadline(timers_.now() + timeout, client_->call(std::move(params)));
}

Task<Result<bool>> RoomCore::write(std::shared_ptr<RoomCallCore> call, room::Content item) {
  ERRAND_CO_CHECK(co_await call->call->write(std::move(item)));
  co_return true;
}

Task<Result<std::optional<room::Content>>> RoomCore::read(std::shared_ptr<RoomCallCore> call) {
  std::optional<room::Content> none;
  if (call->is_over) co_return none;
  if (!std::exchange(call->is_answered, true)) {
    ERRAND_CO_TRY(room::Content answer, co_await call->call->answer());
    if (!room::is_open(answer.header)) {
      call->is_over = true;
      co_return std::optional(std::move(answer));
    }
  }
  ERRAND_CO_TRY(auto item, co_await call->call->next());
  call->is_over = !item;
  co_return item;
}

}  // namespace errand::sdk

#include "sdk/client/following.hpp"

#include <utility>

#include "async/completion.hpp"
#include "sdk/bridge/public_error.hpp"
#include "sdk/bridge/public_events.hpp"

namespace errand::sdk {

ReplyPromise::~ReplyPromise() {
  set(v1::Error(v1::ErrorCode::cancelled, "the client is closed"));
}

void ReplyPromise::set(v1::Result<v1::Reply> reply) {
  if (auto done = std::exchange(done_, {})) done(std::move(reply));
}

Following::Following(Params params)
    : params_(std::move(params)),
      events_(params_.keep,
              [this] {
                post_from_outside(params_.home, [weak = weak_from_this()] {
                  if (auto self = weak.lock()) self->room_.notify();
                });
              }),
      room_(params_.home),
      tools_(params_.tools),
      stream_(params_.api, params_.timers, params_.run, params_.after, params_.first_failure,
              params_.patience),
      calls_(params_.api, params_.timers, params_.home, tools_, params_.tell, params_.tool_timeout),
      tasks_(params_.home, bugs_to(params_.tell)) {}

void Following::start() {
  tasks_.spawn("run.follow", follow());
}

Task<Result<RunStream::Item>> Following::next() {
  auto item = co_await stream_.next();
  if (item && item->kind == RunStream::Item::Kind::event) see_call(item->event);
  co_return item;
}

// Calls of other tools are for other clients, such as a worker.
void Following::answer(const LocalToolCall& call) {
  bool is_ours = params_.refuses_others || tools_.find(call.name);
  if (params_.answers && is_ours) calls_.start(params_.run, call);
}

Task<void> Following::follow() {
  for (;;) {
    auto item = co_await stream_.next();
    if (!item) co_return end(item.error());
    if (take(*item)) co_return end({});
    while (std::exchange(is_full_, false)) co_await room_.wait();
  }
}

bool Following::take(const RunStream::Item& item) {
  using Kind = RunStream::Item::Kind;
  v1::Event event;
  switch (item.kind) {
    case Kind::lost: event.data = v1::ConnectionLost{item.why}; break;
    case Kind::back: event.data = v1::ConnectionRestored{}; break;
    case Kind::retry: return false;  // programs do not need to know
    case Kind::event:
      see_call(item.event);
      event = public_event(params_.run, item.event);
      break;
  }
  const auto* ended = event.as<v1::RunEnded>();
  const bool is_end = ended != nullptr;
  if (ended && params_.reply) {
    params_.reply->set(ended->reply.ok()
                           ? v1::Result<v1::Reply>(ended->reply)
                           : v1::Result<v1::Reply>(v1::detail::run_error(ended->reply)));
  }
  is_full_ = !events_.push(std::move(event));
  return is_end;
}

void Following::see_call(const StampedEvent& event) {
  if (const auto* call = std::get_if<LocalToolCall>(&event.event)) {
    if (event.seq > params_.calls_after) answer(*call);
  } else if (const auto* result = std::get_if<ToolResultEvent>(&event.event)) {
    calls_.settled_elsewhere(result->id);
  } else if (const auto* other = std::get_if<LocalToolResultIn>(&event.event)) {
    calls_.settled_elsewhere(other->id);
  }
}

void Following::end(std::optional<Error> error) {
  calls_.cut_off();
  params_.lease.reset();
  std::optional<v1::Error> shown;
  if (error) shown = public_error(*error, params_.run.str());
  if (shown && params_.reply) params_.reply->set(*shown);
  params_.reply.reset();
  events_.finish(std::move(shown));
  if (params_.on_end) std::exchange(params_.on_end, {})(shared_from_this());
}

Task<void> Following::stop() {
  co_await tasks_.stop(CancelReason::shutdown);
  co_await calls_.stop();
  // The last owner may be on a thread of the program, which must not touch what belongs to the
  // home.
  stream_.close();
  params_.lease.reset();
  params_.reply.reset();
  events_.finish(v1::Error(v1::ErrorCode::cancelled, "the client is closed", {},
                           {.run_id = params_.run.str()}));
}

}  // namespace errand::sdk

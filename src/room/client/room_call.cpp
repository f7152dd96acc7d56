#include "room/client/room_call.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "room/client/room_client.hpp"

namespace errand::room {
namespace {

Result<void> end_of_stream(const json::Object& close) {
  const std::int64_t status = close_status(close);
  if (status == kNormalEnd) return {};
  std::string_view why = json::text_at(&close, "message");
  const ErrorCode code = status == kHostGone ? ErrorCode::outcome_unknown : ErrorCode::conflict;
  return Error(code,
               cat("the stream has ended early (", status, ")", why.empty() ? "" : ": ", why));
}

}  // namespace

RoomCall::RoomCall(RoomClient& client, Executor home, std::string id, InvokeParams params)
    : client_(&client),
      id_(std::move(id)),
      params_(std::move(params)),
      input_open_(is_open(params_.arguments.header)),
      bell_(std::move(home)) {}

RoomCall::~RoomCall() {
  if (client_) client_->give_up(*this);
}

bool RoomCall::is_over() const {
  if (!answer_) return false;
  return !*answer_ || !is_open((*answer_)->header) || end_.has_value();
}

Task<Result<Content>> RoomCall::answer() {
  while (!answer_) co_await bell_.wait();
  co_return *answer_;
}

Task<Result<std::optional<Content>>> RoomCall::next() {
  while (items_.empty() && !end_) co_await bell_.wait();
  if (items_.empty()) {
    ERRAND_CO_CHECK(*end_);
    co_return std::optional<Content>();
  }
  Item item = std::move(items_.front());
  items_.pop_front();
  item_bytes_ -= item.size;
  co_return std::optional(std::move(item.content));
}

Task<Result<void>> RoomCall::write(Content item) {
  if (!client_ || !input_open_) {
    co_return Error(ErrorCode::conflict, "the input of the call is closed");
  }
  ERRAND_CO_CHECK(co_await client_->send_chunk(id_, std::move(item)));
  co_return Result<void>();
}

void RoomCall::close_input() {
  if (!std::exchange(input_open_, false) || !client_) return;
  client_->post_chunk(id_, close_content());
}

void RoomCall::take_answer(Result<Content> answer) {
  if (answer_) return;
  answer_ = std::move(answer);
  bell_.notify();
}

void RoomCall::take_chunk(Content chunk, std::size_t size) {
  const bool is_streaming = answer_ && *answer_ && is_open((*answer_)->header) && !end_;
  if (!is_streaming || flaw_of(chunk.header)) {
    if (params_.on_progress && !end_) params_.on_progress(chunk.header);
    return;
  }
  if (is_close(chunk.header)) {
    end_ = end_of_stream(chunk.header);
  } else {
    item_bytes_ += size;
    items_.push_back({.content = std::move(chunk), .size = size});
  }
  if (items_.size() > kItemsMax || item_bytes_ > kItemBytesMax) {
    end_ = Error(ErrorCode::too_large, "the items of the answer are not read fast enough");
  }
  bell_.notify();
}

void RoomCall::fail(const Error& error) {
  client_ = nullptr;
  input_open_ = false;
  if (!answer_) answer_ = error;
  if (!end_) end_ = error;
  bell_.notify();
}

}  // namespace errand::room

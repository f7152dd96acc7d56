#include "room/client/hosted_call.hpp"

#include <utility>

#include "json/write.hpp"

namespace errand::room {

HostedCall::HostedCall(const Executor& home, std::weak_ptr<Connection> connection, Params params)
    : connection_(std::move(connection)),
      params_(std::move(params)),
      input_open_(is_open(params_.arguments.header)),
      bell_(home) {}

Task<std::optional<Content>> HostedCall::next_input() {
  while (input_.empty() && input_open_) co_await bell_.wait();
  if (input_.empty()) co_return std::nullopt;
  Item item = std::move(input_.front());
  input_.pop_front();
  input_bytes_ -= item.size;
  co_return std::move(item.content);
}

void HostedCall::take_input(Content chunk, std::size_t size) {
  if (!input_open_) return;
  if (is_close(chunk.header)) {
    input_open_ = false;
    return bell_.notify();
  }
  input_bytes_ += size;
  input_.push_back({.content = std::move(chunk), .size = size});
  if (input_.size() > kItemsMax || input_bytes_ > kItemBytesMax) {
    input_open_ = false;
    finish(error_content(RoomCode::operation_failed, "the tool does not read its input"));
  }
  bell_.notify();
}

void HostedCall::send(std::string_view type, const Content& content) {
  if (auto connection = connection_.lock()) {
    connection->send(to_message(params_.number, type, content));
  }
}

void HostedCall::send_chunk(const Content& chunk) {
  auto connection = connection_.lock();
  if (!connection) return;
  json::Object header{{"tool_call_id", params_.id}};
  header["chunk"] = chunk.header;
  Message message{.id = params_.number,
                  .type = "room.tool_call_response_chunk",
                  .header = "",
                  .attachment = chunk.bytes};
  json::write(message.header, header);
  connection->send(message);
}

void HostedCall::open() {
  if (is_finished_ || std::exchange(is_streaming_, true)) return;
  send("room.tool_call_response", open_content());
}

void HostedCall::write(const Content& item) {
  if (is_finished_) return;
  open();
  send_chunk(item);
}

void HostedCall::report(json::Object event) {
  if (is_finished_ || is_streaming_) return;
  event["type"] = "errand.progress";
  send_chunk({.header = std::move(event)});
}

void HostedCall::finish(const Content& answer) {
  if (std::exchange(is_finished_, true)) return;
  input_open_ = false;
  bell_.notify();
  if (!is_streaming_) return send("room.tool_call_response", answer);
  if (kind_of(answer.header) == ContentKind::error) send_chunk(answer);
  send_chunk(close_content());
}

}  // namespace errand::room

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "async/task.hpp"
#include "async/wakeup.hpp"
#include "base/result.hpp"
#include "json/value.hpp"
#include "room/wire/content.hpp"

namespace errand::room {

class RoomClient;

struct InvokeParams {
  std::string toolkit;
  std::string tool;
  Content arguments = empty_content();  // open_content(): the input is a stream
  std::string participant_id = {};      // of the host; empty: the public toolkit's
  std::string on_behalf_of_id = {};
  json::Object caller_context = {};
  std::string traceparent = {};  // the caller's place in a trace, if it keeps one
  // What the host reports before its answer. Called on the client's home.
  std::function<void(const json::Object&)> on_progress = {};
};

// A call that a participant makes. Dropping it before its end gives the call up, and tells the host
// if it can be told. One task at a time waits for the answer or an item. Lives on the client's
// home, and may outlive the client.
class RoomCall final {
 public:
  // Items of an answer that wait for their reader, and their bytes as the wire has them. Beyond:
  // the call fails with too_large.
  static constexpr std::size_t kItemsMax = 4096;
  static constexpr std::size_t kItemBytesMax = 32U * 1024 * 1024;

  ~RoomCall();
  RoomCall(const RoomCall&) = delete;
  RoomCall& operator=(const RoomCall&) = delete;

  // The host's answer; open_content() if it is a stream. An answer may be an error content: a
  // failure of the tool. outcome_unknown: the connection was lost, or the host has gone.
  Task<Result<Content>> answer();

  // The next item of a streamed answer; nothing at its end. Items may be error contents.
  // outcome_unknown: the stream was cut off. conflict: the host has ended it with a failure.
  Task<Result<std::optional<Content>>> next();

  // The next item of a streamed input. Returns once the room has it.
  Task<Result<void>> write(Content item);
  void close_input();

 private:
  friend class RoomClient;
  RoomCall(RoomClient& client, Executor home, std::string id, InvokeParams params);

  void take_answer(Result<Content> answer);
  // `size` is the size of the chunk's message.
  void take_chunk(Content chunk, std::size_t size);
  void fail(const Error& error);
  bool is_over() const;

  RoomClient* client_;  // null once the client knows the call no more
  const std::string id_;
  const InvokeParams params_;
  std::optional<Result<Content>> answer_;
  struct Item {
    Content content;
    std::size_t size;
  };
  std::deque<Item> items_;
  std::size_t item_bytes_ = 0;
  std::optional<Result<void>> end_;  // of a streamed answer
  bool input_open_ = false;
  Wakeup bell_;
};
using RoomCallPtr = std::shared_ptr<RoomCall>;

}  // namespace errand::room

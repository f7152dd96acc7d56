#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/task.hpp"
#include "async/wakeup.hpp"
#include "json/value.hpp"
#include "room/client/connection.hpp"
#include "room/wire/content.hpp"

namespace errand::room {

// A call that a participant has to answer. Lives on the client's home.
class HostedCall final {
 public:
  // Items of a streamed input that wait for their reader, and their bytes as the wire has them.
  // Beyond: the input ends, and the call fails with 1008.
  static constexpr std::size_t kItemsMax = 4096;
  static constexpr std::size_t kItemBytesMax = 32U * 1024 * 1024;

  struct Params {
    std::uint64_t number = 0;  // of the message that brought the call
    std::string id;            // as the room knows the call
    std::string toolkit;
    std::string tool;
    Content arguments;
    std::string caller_id;
    std::string on_behalf_of_id = {};
    json::Object caller_context = {};
    std::string traceparent = {};  // the call's place in a trace; may be empty
  };
  HostedCall(const Executor& home, std::weak_ptr<Connection> connection, Params params);

  const Params& params() const { return params_; }

  // The next item of a streamed input; nothing at its end.
  Task<std::optional<Content>> next_input();
  // Makes the answer a stream, unless it is one.
  void open();
  // Adds an item to the answer, which is a stream then.
  void write(const Content& item);
  // Reports the call's progress to the caller.
  void report(json::Object event);

  // The end: the answer, or the end of the stream. The first one counts. Ends the input, too.
  void finish(const Content& answer);

  // The caller's next chunk. `size` is the size of its message.
  void take_input(Content chunk, std::size_t size);

 private:
  void send(std::string_view type, const Content& content);
  void send_chunk(const Content& chunk);

  const std::weak_ptr<Connection> connection_;
  const Params params_;
  struct Item {
    Content content;
    std::size_t size;
  };
  std::deque<Item> input_;
  std::size_t input_bytes_ = 0;
  bool input_open_ = false;
  bool is_streaming_ = false;
  bool is_finished_ = false;
  Wakeup bell_;
};
using HostedCallPtr = std::shared_ptr<HostedCall>;

// A toolkit as its host offers it, and what answers its calls. Lives on the client's home.
class HostedToolkit {
 public:
  virtual ~HostedToolkit() = default;
  // The members of the registration, "name" first of all.
  virtual json::Object registration() const = 0;
  // The answer; an error content for a failure. Cancelled when the caller gives the call up or the
  // connection is lost.
  virtual Task<Content> call(HostedCallPtr call) = 0;
};

}  // namespace errand::room

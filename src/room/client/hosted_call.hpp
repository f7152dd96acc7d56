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
  // Items of a streamed input that wait for their reader. Beyond, the input is closed with 1009.
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
  };
  HostedCall(const Executor& home, std::weak_ptr<Connection> connection, Params params);

  const Params& params() const { return params_; }

  // The next item of a streamed input; nothing at its end.
  Task<std::optional<Content>> next_input();
  // Makes the answer a stream, and adds items to it.
  void write(const Content& item);
  // Tells the caller how far the call has come.
  void report(json::Object event);

  // The end: the answer, or the end of the stream. The first one counts.
  void finish(const Content& answer);

  // What the caller's next chunk is.
  void take_input(Content chunk);

 private:
  void send(std::string_view type, const Content& content);
  void send_chunk(const Content& chunk);

  const std::weak_ptr<Connection> connection_;
  const Params params_;
  std::deque<Content> input_;
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

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "room/calls.hpp"

namespace errand::room {

// A stream of messages between two participants: the caller's call of messaging.stream, and the
// call that the room makes of it to the other side. It is open once the other side has accepted.
class MessageStream final : public LocalCall,
                            public AnswerTaker,
                            public std::enable_shared_from_this<MessageStream> {
 public:
  // The participant with this id, if it takes messages; else null.
  using FindOther = std::function<Participant*(const std::string& id)>;

  // They outlive this.
  MessageStream(Calls& calls, Participant& caller, FindOther find_other, Calls::Reply reply)
      : calls_(calls), caller_(caller), find_other_(std::move(find_other)), reply_(reply) {}
  ~MessageStream() override;
  MessageStream(const MessageStream&) = delete;
  MessageStream& operator=(const MessageStream&) = delete;

  void take_input(const Content& chunk) override;
  void take_answer(const Content& content) override;
  void take_output(const Content& chunk) override;

 private:
  enum class Phase : std::uint8_t { unasked, asked, open, over };

  void ask(const Content& first);
  // Ends the call on the other side.
  void close_other(const Content& close);

  Calls& calls_;
  Participant& caller_;
  const FindOther find_other_;
  const Calls::Reply reply_;
  Phase phase_ = Phase::unasked;
  std::optional<std::uint64_t> other_;  // the number of the other call
};

}  // namespace errand::room

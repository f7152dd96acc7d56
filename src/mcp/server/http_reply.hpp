#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "async/wakeup.hpp"
#include "base/reader_budget.hpp"
#include "net/event_feed.hpp"
#include "rpc/connection.hpp"

namespace errand::mcp {

// What one HTTP request is answered with: the messages that belong to it, in order. Filled by
// its session, read by one reader.
class HttpReply final {
 public:
  // Of messages that wait for the reader; beyond, the reply is cut off.
  static constexpr std::size_t kBytesMax = 32U * 1024 * 1024;

  // A reply with this many bytes is cut off if all readers together hold too much.
  static constexpr std::size_t kFairBytes = 256U * 1024;

  // `readers` (nullptr: nobody counts) outlives the reply.
  HttpReply(const Executor& home, ReaderBudget* readers) : ready_(home) {
    if (readers) held_.emplace(*readers);
  }

  // The reply is over once each of these has its answer or is dropped. Without any, it is over only
  // by end().
  void expect(rpc::Id id) { open_.insert(std::move(id)); }
  void put(rpc::Outgoing message);
  // No answer to this request comes.
  void drop(const rpc::Id& id);
  void end();

  // The reader has left; nothing is kept for it from now on.
  void abandon();
  bool is_abandoned() const { return is_abandoned_; }
  bool is_over() const { return is_over_; }
  bool is_cut() const { return is_cut_; }

  // Returns when there is something to read, or nothing will come any more.
  Task<Wakeup::Woken> wait_until(SteadyTime deadline);
  // Whether one message is all of it.
  bool is_single() const { return is_over_ && !is_cut_ && texts_.size() == 1; }
  std::string take_single();
  // The error that the only message tells.
  std::optional<std::int64_t> error_code() const { return error_code_; }
  // All waiting messages, as server-sent events.
  std::string take_frames();

 private:
  void hold(std::size_t bytes);
  bool is_too_much() const;
  void cut();

  std::set<rpc::Id> open_;
  std::deque<std::string> texts_;
  std::size_t bytes_ = 0;  // of texts_
  std::optional<ReaderBudget::Share> held_;
  std::optional<std::int64_t> error_code_;
  bool is_over_ = false;
  bool is_cut_ = false;
  bool is_abandoned_ = false;
  Wakeup ready_;
};

// Streams a reply. `on_left` is called once the stream is over, however it ends.
class HttpReplyFeed final : public net::EventFeed {
 public:
  HttpReplyFeed(std::shared_ptr<HttpReply> reply, std::function<void()> on_left)
      : reply_(std::move(reply)), on_left_(std::move(on_left)) {}
  ~HttpReplyFeed() override;

  Task<Chunk> read(SteadyTime deadline) override;
  void interrupt() override { reply_->abandon(); }

 private:
  const std::shared_ptr<HttpReply> reply_;
  const std::function<void()> on_left_;
};

}  // namespace errand::mcp

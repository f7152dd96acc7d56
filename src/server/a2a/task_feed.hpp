#pragma once

#include <memory>
#include <string>

#include "a2a/codec.hpp"
#include "engine/residency/subscription.hpp"
#include "net/event_feed.hpp"
#include "rpc/message.hpp"
#include "server/a2a/run_task.hpp"

namespace errand::server {

// The events of a task as server-sent events, each a JSON-RPC answer to the request that asked for
// them. The first is the task itself.
class TaskFeed final : public net::EventFeed {
 public:
  TaskFeed(std::unique_ptr<engine::Subscription> subscription, rpc::Id request,
           a2a::Version version, const a2a::Task& task);

  Task<Chunk> read(SteadyTime deadline) override;
  void interrupt() override { subscription_->interrupt(); }

 private:
  void add(std::string& frames, const a2a::StreamEvent& event) const;

  const std::unique_ptr<engine::Subscription> subscription_;
  const rpc::Id request_;
  const a2a::Version version_;
  TaskEvents events_;
  std::string first_;  // the frame with the task, until it has been sent
};

}  // namespace errand::server

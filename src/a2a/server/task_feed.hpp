#pragma once

#include <memory>
#include <string>

#include "a2a/codec.hpp"
#include "a2a/server/task_backend.hpp"
#include "net/http.hpp"
#include "rpc/message.hpp"

namespace errand::a2a {

// The events of a task as server-sent events, each a JSON-RPC answer to the request that asked for
// them.
class TaskFeed final : public net::EventFeed {
 public:
  // When a stream ends before its source does.
  enum class Ends : std::uint8_t {
    at_rest,  // once the task is over or waits for its client
    over,     // once the task is over
  };
  // Begins with `first`. Without a source (nullptr), that is all.
  TaskFeed(std::unique_ptr<TaskSource> source, rpc::Id request, Version version, Ends ends,
           const StreamEvent& first);

  ::errand::Task<Chunk> read(SteadyTime deadline) override;
  void interrupt() override;

 private:
  void add(std::string& frames, const StreamEvent& event) const;
  bool is_last(const StreamEvent& event) const;

  const std::unique_ptr<TaskSource> source_;
  const rpc::Id request_;
  const Version version_;
  const Ends ends_;
  std::string first_;  // the first frame, until it has been sent
};

// The response whose body is such a stream.
net::Response stream_response(std::unique_ptr<TaskFeed> feed);

}  // namespace errand::a2a

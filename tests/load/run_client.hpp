#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "load/connection.hpp"
#include "load/requests.hpp"
#include "net/client/sse_reader.hpp"

namespace errand::load {

// What came over a stream.
struct StreamCounts {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t answers = 0;
};

// Sends a request whose answer is short, and returns the answer.
Task<Result<std::string>> exchange(Connection* connection, WireRequest request, int wanted);
// The id in an answer.
Result<std::string> read_id(std::string_view text, std::string_view key);

// The client of one run: creates it, follows its stream and answers its calls.
// Everything fails with `unavailable` if the connection breaks or the answer is not the wanted one.
class RunClient final {
 public:
  // `stream` carries the creation too, and nothing else until the run has ended. Both outlive this.
  RunClient(const Requests& requests, Connection& stream);

  Task<Result<void>> create();
  // Creates the run, and returns once the head of its stream is there.
  Task<Result<void>> start();
  // The same for a run that another request creates.
  Task<Result<void>> start(WireRequest creation);

  enum class Progress : std::uint8_t { waits, ended };
  // Reads until the run waits for its client, or the stream has ended after a `result`.
  Task<Result<Progress>> follow();

  // Reads until the model has said something.
  Task<Result<void>> await_delta();

  // Answers what the run waits for, over another connection.
  Task<Result<void>> answer(Connection* connection);

  const StreamCounts& counts() const { return counts_; }
  // When each delta was read.
  const std::vector<SteadyTime>& delta_times() const { return delta_times_; }

 private:
  Task<Result<void>> create(WireRequest creation);
  // False: the stream has ended.
  Task<Result<bool>> read_more();
  Result<void> take(const net::SseEvent& event, SteadyTime now);

  const Requests& requests_;
  Connection& stream_;
  std::string run_;
  net::SseReader events_;
  std::string last_type_;
  std::vector<std::string> calls_;  // ids of those that wait
  StreamCounts counts_;
  std::vector<SteadyTime> delta_times_;
};

}  // namespace errand::load

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "net/chunk_decoder.hpp"
#include "net/http.hpp"
#include "net/read_buffer.hpp"
#include "net/server/body_budget.hpp"
#include "net/server/http_server.hpp"
#include "net/server/request_ids.hpp"

namespace errand::net {

// A request, and what its answer must know of it.
struct ReceivedRequest {
  Request request;
  bool is_http10 = false;
  bool keep_alive = true;
  BodyBudget::Share share;  // of the body; given back when the request is answered
};

// Parses the bytes of one connection into requests; does no I/O itself. Bytes go in by prepare()
// and commit(), then advance() parses them. Bytes behind a whole request stay for the next one.
class RequestReader final {
 public:
  enum class State : std::uint8_t {
    idle,  // no byte of a request is there
    head,
    body,
    whole  // take() has it
  };

  // All three outlive the reader.
  RequestReader(const ServerLimits& limits, BodyBudget& budget, RequestIds& ids);
  ~RequestReader();

  // Room for the next bytes of the connection, and how many were put there.
  std::span<char> prepare();
  void commit(std::size_t count) { buffer_.commit(count); }

  // Takes in the bytes that were read, up to the end of one request. An error is the answer to send
  // before the connection is closed; the reader is then of no further use.
  Result<State> advance();

  // Lowers the limit of the unfinished body. too_large: the body is longer, or says that it will
  // be.
  Result<void> limit_body(std::size_t bytes_max);
  // Names the holders that the memory of the unfinished body counts for; called once. unavailable:
  // they hold too much.
  Result<void> hold_body_for(std::vector<std::string> holders);

  // Whether the client waits for "100 Continue" before it sends the body; true only once.
  bool take_expectation();

  // The whole request. The reader is ready for the next.
  ReceivedRequest take();

  // The known part of an unfinished request, for the answer if it is refused.
  const ReceivedRequest& partial() const { return received_; }
  // Whether bytes are there that no request has taken.
  bool has_bytes() const { return !buffer_.empty(); }

 private:
  class Head;

  void begin();
  Result<void> read_head();
  Result<void> accept_head();
  Result<void> accept_framing();
  Result<void> begin_body();
  Result<void> read_body();
  Result<void> read_chunks();
  Result<void> count_body();
  static Result<void> answer_to(BodyBudget::Verdict verdict);
  Error headers_too_large() const;
  Error body_too_large() const;

  const ServerLimits& limits_;
  BodyBudget& budget_;
  RequestIds& ids_;
  ReadBuffer buffer_;
  State state_ = State::idle;
  std::unique_ptr<Head> head_;  // only while a head is read
  std::size_t head_bytes_ = 0;
  ReceivedRequest received_;
  bool expectation_ = false;
  bool chunked_ = false;
  std::size_t body_bytes_max_ = 0;  // of the present request
  std::uint64_t body_left_ = 0;     // of a body with a declared length
  ChunkDecoder chunks_;
};

}  // namespace errand::net

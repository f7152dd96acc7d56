#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "net/chunk_decoder.hpp"
#include "net/http.hpp"

namespace errand::net {

// Makes one answer out of the bytes of a connection: does no I/O itself. Answers with status 1xx
// are read over. Every failure is `unavailable`: the peer does not speak HTTP, or broke off.
class ResponseReader final {
 public:
  static constexpr std::size_t kHeadBytesMax = 64U * 1024;

  explicit ResponseReader(Method method);  // of the request
  ~ResponseReader();

  // Bytes may be split anywhere; those after the end of the answer are ignored, and noted.
  Result<void> feed(std::string_view bytes);
  // The peer has closed the connection.
  Result<void> finish();

  bool has_head() const { return body_ != Body::unknown; }
  bool done() const { return body_ == Body::done; }
  int status() const { return status_; }
  const std::vector<Header>& headers() const { return headers_; }
  // True once any byte has come.
  bool has_begun() const { return has_begun_; }
  // True if bytes came after the end of the answer.
  bool has_surplus() const { return has_surplus_; }
  // True if the answer is over and its connection is good for another request.
  bool can_go_on() const { return done() && keeps_alive_ && !has_surplus_; }
  // The part of the body that has come since the last call.
  std::string take_body() { return std::exchange(data_, {}); }
  std::size_t body_bytes() const { return data_.size(); }

 private:
  class Head;
  enum class Body : std::uint8_t { unknown, length, chunks, until_close, done };

  Result<void> feed_head(std::string_view bytes);
  Result<void> begin_body();
  Result<void> feed_body(std::string_view bytes);

  Method method_;
  std::unique_ptr<Head> head_;
  std::string pending_;  // of an unfinished head
  std::size_t head_bytes_ = 0;
  bool has_begun_ = false;
  bool has_surplus_ = false;
  bool keeps_alive_ = false;
  int status_ = 0;
  std::vector<Header> headers_;
  Body body_ = Body::unknown;
  std::uint64_t left_ = 0;
  ChunkDecoder chunks_;
  std::string data_;
};

}  // namespace errand::net

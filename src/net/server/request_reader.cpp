#include "net/server/request_reader.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <utility>

#include "base/text.hpp"

namespace errand::net {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;
using BeastText = boost::beast::string_view;

// Buffer sizes of a read: enough for a usual head, and for reading a body in few pieces.
constexpr std::size_t kHeadRoom = 2048;
constexpr std::size_t kBodyRoomMax = 64U * 1024;
constexpr std::size_t kCopiedBytesMax = 1024U * 1024;  // of a body, while its buffer grows

std::string_view to_view(BeastText text) {
  return {text.data(), text.size()};
}

Method to_method(http::verb verb) {
  switch (verb) {
    case http::verb::get: return Method::get;
    case http::verb::head: return Method::head;
    case http::verb::post: return Method::post;
    case http::verb::put: return Method::put;
    case http::verb::patch: return Method::patch;
    case http::verb::delete_: return Method::delete_;
    case http::verb::options: return Method::options;
    default: return Method::other;
  }
}

Error bad_request(std::string message) {
  return Error(ErrorCode::invalid_argument, std::move(message)).reason("bad_request");
}

// Splits "/path?query", "http://host/path?query" or "*".
Result<void> split_target(std::string_view target, Request& request) {
  constexpr std::string_view kScheme = "http://";
  if (equals_ignoring_case(target.substr(0, kScheme.size()), kScheme)) {
    target.remove_prefix(kScheme.size());
    target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
    if (target.empty() || target.front() == '?') request.path = "/";
  } else if (target != "*" && !target.starts_with('/')) {
    return bad_request("the request target must be a path that begins with a slash");
  }
  std::size_t question = std::min(target.find('?'), target.size());
  request.path.append(target.substr(0, question));
  if (question < target.size()) request.query = target.substr(question + 1);
  return {};
}

std::size_t count_headers(const std::vector<Header>& headers, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(),
                    [&](const Header& header) { return equals_ignoring_case(header.name, name); }));
}

}  // namespace

// Lets Beast's parser write the request line and the headers straight into our own Request.
class RequestReader::Head final : public http::basic_parser<true> {
 public:
  explicit Head(ReceivedRequest& received) : received_(received) {
    // The reader itself counts the bytes of the head and reads the body.
    header_limit(std::numeric_limits<std::uint32_t>::max());
    skip(true);
    received_.request.headers.reserve(12);
  }

  const std::string& target() const { return target_; }

 private:
  void on_request_impl(http::verb verb, BeastText /*name*/, BeastText target, int version,
                       error_code& /*error*/) override {
    received_.request.method = to_method(verb);
    received_.is_http10 = version == 10;
    target_ = to_view(target);
  }
  void on_field_impl(http::field /*field*/, BeastText name, BeastText value,
                     error_code& /*error*/) override {
    received_.request.headers.push_back(
        {.name = std::string(to_view(name)), .value = std::string(to_view(value))});
  }
  void on_header_impl(error_code& /*error*/) override {}
  void on_finish_impl(error_code& /*error*/) override {}

  // Never called, because the parser skips the body.
  void on_response_impl(int, BeastText, int, error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(BeastText, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, BeastText, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, BeastText, error_code&) override { return 0; }

  ReceivedRequest& received_;
  std::string target_;
};

RequestReader::RequestReader(const ServerLimits& limits, BodyBudget& budget, RequestIds& ids)
    : limits_(limits), budget_(budget), ids_(ids) {}

RequestReader::~RequestReader() = default;

std::span<char> RequestReader::prepare() {
  if (state_ != State::body) return buffer_.prepare(kHeadRoom);
  std::uint64_t wanted = chunked_ ? kBodyRoomMax / 4 : body_left_;
  return buffer_.prepare(
      static_cast<std::size_t>(std::clamp<std::uint64_t>(wanted, kHeadRoom, kBodyRoomMax)));
}

Result<RequestReader::State> RequestReader::advance() {
  if (state_ == State::idle) begin();
  if (state_ == State::head) ERRAND_CHECK(read_head());
  if (state_ == State::body) ERRAND_CHECK(read_body());
  return state_;
}

void RequestReader::begin() {
  if (buffer_.empty()) return;
  state_ = State::head;
  head_bytes_ = 0;
  head_ = std::make_unique<Head>(received_);
}

Result<void> RequestReader::read_head() {
  // Empty lines before a request are skipped, as RFC 9112 (2.2) asks.
  while (!head_->got_some() && !buffer_.empty() &&
         (buffer_.bytes().front() == '\r' || buffer_.bytes().front() == '\n')) {
    buffer_.consume(1);
    ++head_bytes_;
  }
  error_code error = http::error::need_more;
  if (!buffer_.empty()) {
    std::string_view bytes = buffer_.bytes();
    std::size_t used = head_->put(asio::const_buffer(bytes.data(), bytes.size()), error);
    buffer_.consume(used);
    head_bytes_ += used;
  }
  if (error == http::error::need_more) {
    if (head_bytes_ + buffer_.size() > limits_.head_bytes_max) return headers_too_large();
    return {};
  }
  if (error) return bad_request(cat("the request is not valid HTTP: ", error.message()));
  if (head_bytes_ > limits_.head_bytes_max) return headers_too_large();
  return accept_head();
}

Result<void> RequestReader::accept_head() {
  Request& request = received_.request;
  received_.keep_alive = head_->keep_alive();
  std::string_view id = request.header("x-request-id");
  request.id = is_sane_request_id(id) ? std::string(id) : ids_.next();
  ERRAND_CHECK(split_target(head_->target(), request));
  std::size_t hosts = count_headers(request.headers, "host");
  if (hosts > 1 || (hosts == 0 && !received_.is_http10)) {
    return bad_request("the request must have exactly one Host header");
  }
  ERRAND_CHECK(accept_framing());
  ERRAND_CHECK(begin_body());
  head_.reset();
  return {};
}

Result<void> RequestReader::accept_framing() {
  const Request& request = received_.request;
  chunked_ = head_->chunked();
  for (const Header& header : request.headers) {
    if (!equals_ignoring_case(header.name, "transfer-encoding")) continue;
    if (received_.is_http10) return bad_request("HTTP/1.0 has no Transfer-Encoding");
    if (!equals_ignoring_case(trim(header.value), "chunked")) {
      return Error(ErrorCode::unsupported, "the only Transfer-Encoding understood is chunked")
          .reason("transfer_encoding_unsupported");
    }
  }
  std::string_view expect = request.header("expect");
  if (expect.empty() || received_.is_http10) return {};
  if (!equals_ignoring_case(expect, "100-continue")) {
    return Error(ErrorCode::unsupported, "the only expectation understood is 100-continue")
        .reason("expectation_failed");
  }
  expectation_ = true;
  return {};
}

Result<void> RequestReader::begin_body() {
  state_ = State::body;
  chunks_ = ChunkDecoder();
  body_left_ = chunked_ ? 0 : head_->content_length().value_or(0);
  return limit_body(limits_.body_bytes_max);
}

Result<void> RequestReader::limit_body(std::size_t bytes_max) {
  body_bytes_max_ = std::min(bytes_max, limits_.body_bytes_max);
  const std::size_t size = received_.request.body.size();
  if (size > body_bytes_max_ || body_left_ > body_bytes_max_ - size) return body_too_large();
  return {};
}

Result<void> RequestReader::read_body() {
  if (chunked_) return read_chunks();
  std::string& body = received_.request.body;
  auto count = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, buffer_.size()));
  std::size_t size = body.size() + count;
  if (size > body.capacity()) {
    // The buffer grows with the bytes that arrive, and never past the declared length. A long body
    // is not copied again: memory that was never written to costs only addresses.
    std::size_t whole = body.size() + static_cast<std::size_t>(body_left_);
    bool is_long = size > kCopiedBytesMax;
    body.reserve(is_long ? whole : std::min(whole, std::max(size, 2 * body.capacity())));
  }
  body.append(buffer_.bytes().substr(0, count));
  buffer_.consume(count);
  body_left_ -= count;
  if (body_left_ == 0) state_ = State::whole;
  return count_body();
}

Result<void> RequestReader::read_chunks() {
  std::string& body = received_.request.body;
  ERRAND_TRY(std::size_t used, chunks_.decode(buffer_.bytes(), body));
  buffer_.consume(used);
  if (body.size() > body_bytes_max_) return body_too_large();
  if (chunks_.done()) state_ = State::whole;
  return count_body();
}

// Counts the bytes that have arrived and not those that were announced, because announcing costs a
// client nothing.
Result<void> RequestReader::count_body() {
  return answer_to(received_.share.grow_to(budget_, received_.request.body.size()));
}

Result<void> RequestReader::hold_body_for(std::vector<std::string> holders) {
  return answer_to(received_.share.set_holders(budget_, std::move(holders)));
}

Result<void> RequestReader::answer_to(BodyBudget::Verdict verdict) {
  switch (verdict) {
    case BodyBudget::Verdict::granted: return {};
    case BodyBudget::Verdict::none_left:
      return Error(ErrorCode::unavailable, "the server holds too many request bodies at the moment")
          .reason("overloaded");
    case BodyBudget::Verdict::none_left_for_holder: break;
  }
  return Error(ErrorCode::unavailable,
               "too many request bodies of this key or address are on their way")
      .reason("overloaded")
      .hint("send fewer large requests at once");
}

bool RequestReader::take_expectation() {
  // A client that already sends the body does not wait for the answer "100 Continue".
  return std::exchange(expectation_, false) && received_.request.body.empty() && buffer_.empty();
}

ReceivedRequest RequestReader::take() {
  state_ = State::idle;
  expectation_ = false;
  if (buffer_.empty()) buffer_.shrink();
  return std::exchange(received_, ReceivedRequest());
}

Error RequestReader::headers_too_large() const {
  return Error(ErrorCode::too_large, "the request line and headers are too long")
      .reason("headers_too_large")
      .limit("headerBytes", static_cast<std::int64_t>(limits_.head_bytes_max));
}

Error RequestReader::body_too_large() const {
  return Error(ErrorCode::too_large, "the request body is too large")
      .reason("body_too_large")
      .limit("bodyBytes", static_cast<std::int64_t>(body_bytes_max_));
}

}  // namespace errand::net

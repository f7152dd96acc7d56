#include "net/client/response_reader.hpp"

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
namespace asio = boost::asio;
using boost::system::error_code;
using BeastText = boost::beast::string_view;

std::string to_text(BeastText text) {
  return {text.data(), text.size()};
}

Error not_http(std::string_view why) {
  return {ErrorCode::unavailable, cat("the answer is not valid HTTP: ", why)};
}

}  // namespace

// Beast's parser for the status line and the headers.
class ResponseReader::Head final : public http::basic_parser<false> {
 public:
  Head() {
    header_limit(std::numeric_limits<std::uint32_t>::max());
    skip(true);
  }

  int status = 0;
  std::vector<Header> headers;

 private:
  void on_response_impl(int code, BeastText, int, error_code&) override { status = code; }
  void on_field_impl(http::field, BeastText name, BeastText value, error_code&) override {
    headers.push_back({.name = to_text(name), .value = to_text(value)});
  }
  void on_header_impl(error_code&) override {}
  void on_finish_impl(error_code&) override {}

  // Never called, because the parser skips the body.
  void on_request_impl(http::verb, BeastText, BeastText, int, error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(BeastText, error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, BeastText, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, BeastText, error_code&) override { return 0; }
};

ResponseReader::ResponseReader(Method method) : method_(method), head_(std::make_unique<Head>()) {}

ResponseReader::~ResponseReader() = default;

Result<void> ResponseReader::feed(std::string_view bytes) {
  if (!bytes.empty()) has_begun_ = true;
  if (has_head()) return feed_body(bytes);
  return feed_head(bytes);
}

Result<void> ResponseReader::feed_head(std::string_view bytes) {
  pending_.append(bytes);
  while (!has_head() && !pending_.empty()) {
    error_code error;
    std::size_t used = head_->put(asio::buffer(pending_), error);
    pending_.erase(0, used);
    head_bytes_ += used;
    if (head_bytes_ + (error ? pending_.size() : 0) > kHeadBytesMax) {
      return not_http("the headers are too long");
    }
    if (error == http::error::need_more) return {};
    if (error) return not_http(error.message());
    if (head_->status / 100 == 1) {
      head_ = std::make_unique<Head>();
      continue;
    }
    ERRAND_CHECK(begin_body());
  }
  if (!has_head()) return {};
  return feed_body(std::exchange(pending_, {}));
}

Result<void> ResponseReader::begin_body() {
  std::string_view encoding = find_header(head_->headers, "Transfer-Encoding");
  if (!encoding.empty() && !equals_ignoring_case(encoding, "chunked")) {
    return not_http("its Transfer-Encoding is not known");
  }
  status_ = head_->status;
  headers_ = std::move(head_->headers);
  left_ = head_->content_length().value_or(0);
  bool has_length = head_->content_length().has_value();
  if (method_ == Method::head || status_ == 204 || status_ == 304) {
    body_ = Body::done;
  } else if (head_->chunked()) {
    body_ = Body::chunks;
  } else if (has_length) {
    body_ = left_ > 0 ? Body::length : Body::done;
  } else {
    body_ = Body::until_close;
  }
  keeps_alive_ = head_->keep_alive() && body_ != Body::until_close;
  head_.reset();
  return {};
}

Result<void> ResponseReader::feed_body(std::string_view bytes) {
  std::size_t used = 0;
  if (body_ == Body::until_close) {
    data_.append(bytes);
    used = bytes.size();
  } else if (body_ == Body::length) {
    used = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    data_.append(bytes.substr(0, used));
    left_ -= used;
    if (left_ == 0) body_ = Body::done;
  } else if (body_ == Body::chunks) {
    auto decoded = chunks_.decode(bytes, data_);
    if (!decoded) return not_http(decoded.error().message());
    used = *decoded;
    if (chunks_.done()) body_ = Body::done;
  }
  if (used < bytes.size()) has_surplus_ = true;
  return {};
}

Result<void> ResponseReader::finish() {
  if (body_ == Body::until_close) body_ = Body::done;
  if (body_ == Body::done) return {};
  return Error(ErrorCode::unavailable, has_head() ? "the connection ended within the answer"
                                                  : "the connection ended before the answer");
}

}  // namespace errand::net

#include "net/client/content_decoder.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/text.hpp"

namespace errand::net {
namespace {

// Window bits that tell zlib the format of its input.
constexpr int kGzipWindow = 15 + 16;
constexpr int kZlibWindow = 15;
constexpr int kRawWindow = -15;

// "deflate" means the zlib form (RFC 9110, 8.4.1.2), but some servers send the bare one.
bool is_zlib_header(std::string_view two) {
  auto first = static_cast<unsigned char>(two[0]);
  auto second = static_cast<unsigned char>(two[1]);
  return (first & 0x0fU) == 8 && (first >> 4U) <= 7 && (first * 256U + second) % 31 == 0;
}

}  // namespace

struct ContentDecoder::Inflater {
  explicit Inflater(int window) {
    if (inflateInit2(&stream, window) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
};

ContentDecoder::ContentDecoder(Kind kind) : kind_(kind) {
  if (kind == Kind::gzip) inflater_ = std::make_unique<Inflater>(kGzipWindow);
}

ContentDecoder::~ContentDecoder() = default;

Result<std::unique_ptr<ContentDecoder>> ContentDecoder::make(std::string_view encoding) {
  encoding = trim(encoding);
  std::unique_ptr<ContentDecoder> decoder;
  if (encoding.empty() || equals_ignoring_case(encoding, "identity")) return decoder;
  if (equals_ignoring_case(encoding, "gzip") || equals_ignoring_case(encoding, "x-gzip")) {
    decoder.reset(new ContentDecoder(Kind::gzip));
  } else if (equals_ignoring_case(encoding, "deflate")) {
    decoder.reset(new ContentDecoder(Kind::deflate));
  } else {
    return Error(ErrorCode::unsupported,
                 cat("the answer has the Content-Encoding ", utf8_prefix(encoding, 40),
                     ", which was not requested and is not supported"));
  }
  return decoder;
}

Error ContentDecoder::damaged() const {
  return {ErrorCode::unavailable,
          cat("the ", kind_ == Kind::gzip ? "gzip" : "deflate", " data of the answer is damaged")};
}

void ContentDecoder::begin_deflate(std::string_view& in) {
  std::size_t count = std::min(2 - held_.size(), in.size());
  held_.append(in.substr(0, count));
  in.remove_prefix(count);
  if (held_.size() < 2) return;
  inflater_ = std::make_unique<Inflater>(is_zlib_header(held_) ? kZlibWindow : kRawWindow);
}

Result<std::string> ContentDecoder::decode(std::string_view& in) {
  if (!in.empty()) started_ = true;
  std::string out;
  if (!inflater_) {
    begin_deflate(in);
    if (!inflater_) return out;
    std::string_view first = held_;
    ERRAND_CHECK(inflate_into(out, first));
  }
  ERRAND_CHECK(inflate_into(out, in));
  return out;
}

Result<void> ContentDecoder::inflate_into(std::string& out, std::string_view& in) {
  std::size_t made = out.size();
  out.resize(kBufferBytes);
  z_stream& stream = inflater_->stream;
  while (made < kBufferBytes && (!in.empty() || std::exchange(has_more_, false))) {
    if (ended_ && in.empty()) break;
    // A gzip file may consist of several members in a row.
    if (ended_ && (kind_ != Kind::gzip || inflateReset(&stream) != Z_OK)) return damaged();
    ended_ = false;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = static_cast<uInt>(kBufferBytes - made);
    int code = inflate(&stream, Z_NO_FLUSH);
    in.remove_prefix(in.size() - stream.avail_in);
    made = kBufferBytes - stream.avail_out;
    ended_ = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return damaged();
  }
  // Some of the output may be left behind when the buffer is full.
  has_more_ = made == kBufferBytes && !ended_;
  out.resize(made);
  return {};
}

Result<void> ContentDecoder::finish() const {
  if (!started_ || ended_) return {};
  return Error(ErrorCode::unavailable, cat("the ", kind_ == Kind::gzip ? "gzip" : "deflate",
                                           " data of the answer ends too early"));
}

}  // namespace errand::net

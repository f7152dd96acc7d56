#include "net/chunk_decoder.hpp"

#include <algorithm>

namespace errand::net {
namespace {

// A larger chunk cannot be meant, and the bound keeps the size from overflowing.
constexpr std::uint64_t kChunkBytesMax = std::uint64_t{1} << 48U;

Error malformed() {
  return Error(ErrorCode::invalid_argument, "the chunked body is malformed").reason("bad_request");
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<std::size_t> ChunkDecoder::decode(std::string_view bytes, std::string& out) {
  std::size_t used = 0;
  while (used < bytes.size() && state_ != State::done) {
    if (state_ == State::data) {
      auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size() - used));
      out.append(bytes.substr(used, count));
      used += count;
      left_ -= count;
      if (left_ == 0) state_ = State::data_cr;
    } else {
      ERRAND_CHECK(take(bytes[used]));
      ++used;
    }
  }
  return used;
}

Result<void> ChunkDecoder::take(char c) {
  switch (state_) {
    case State::size_first:
    case State::size:
    case State::size_space: return take_size(c);
    case State::extension: return take_skipped(c, State::size_lf);
    case State::size_lf: return expect(c, '\n', left_ > 0 ? State::data : State::trailer_first);
    case State::data_cr: return expect(c, '\r', State::data_lf);
    case State::data_lf: return expect(c, '\n', State::size_first);
    case State::trailer_first:
      if (c == '\r') return expect(c, '\r', State::last_lf);
      state_ = State::trailer;
      return take_skipped(c, State::trailer_lf);
    case State::trailer: return take_skipped(c, State::trailer_lf);
    case State::trailer_lf: return expect(c, '\n', State::trailer_first);
    case State::last_lf: return expect(c, '\n', State::done);
    case State::data:
    case State::done: break;
  }
  return malformed();
}

Result<void> ChunkDecoder::take_size(char c) {
  int digit = hex_digit(c);
  if (digit >= 0 && state_ != State::size_space) {
    left_ = left_ * 16 + static_cast<unsigned>(digit);
    if (left_ > kChunkBytesMax) return malformed();
    state_ = State::size;
    return {};
  }
  if (state_ == State::size_first) return malformed();
  if (c == '\r') {
    state_ = State::size_lf;
  } else if (c == ';') {
    state_ = State::extension;
  } else if (c == ' ' || c == '\t') {
    if (++overhead_ > kOverheadBytesMax) return malformed();
    state_ = State::size_space;
  } else {
    return malformed();
  }
  return {};
}

Result<void> ChunkDecoder::take_skipped(char c, State after_cr) {
  if (c == '\r') {
    state_ = after_cr;
    return {};
  }
  auto byte = static_cast<unsigned char>(c);
  if ((byte < 0x20 && c != '\t') || byte == 0x7f) return malformed();
  if (++overhead_ > kOverheadBytesMax) {
    return Error(ErrorCode::too_large,
                 "the extensions and trailers of the chunked body are too long")
        .reason("headers_too_large")
        .limit("headerBytes", kOverheadBytesMax);
  }
  return {};
}

Result<void> ChunkDecoder::expect(char c, char expected, State next) {
  if (c != expected) return malformed();
  state_ = next;
  return {};
}

}  // namespace errand::net

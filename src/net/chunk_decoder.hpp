#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace errand::net {

// Decodes a body in chunks (RFC 9112, 7.1) from bytes that may be split anywhere. Strict about
// sizes and line ends, because two readers that disagree about a body can be played off against
// each other. Extensions and trailers are read over.
class ChunkDecoder final {
 public:
  // Of extensions and trailers in one body; more is too_large.
  static constexpr std::size_t kOverheadBytesMax = 16U * 1024;

  // Appends the data in `bytes` to `out` and returns how many bytes were used: all of them, unless
  // the body ends before. invalid_argument: malformed.
  Result<std::size_t> decode(std::string_view bytes, std::string& out);
  bool done() const { return state_ == State::done; }

 private:
  enum class State : std::uint8_t {
    size_first,
    size,
    size_space,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer_first,
    trailer,
    trailer_lf,
    last_lf,
    done
  };

  Result<void> take(char c);
  Result<void> take_size(char c);
  Result<void> take_skipped(char c, State after_cr);
  Result<void> expect(char c, char expected, State next);

  State state_ = State::size_first;
  std::uint64_t left_ = 0;  // of the current chunk
  std::size_t overhead_ = 0;
};

}  // namespace errand::net

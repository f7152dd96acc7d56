// Decodes its input as a body with a Content-Encoding: the first byte says which. The text must be
// the same however the bytes were split, and no step may make more than a buffer. Built with
// -DERRAND_FUZZ=ON.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "net/client/content_decoder.hpp"

namespace errand::net {
namespace {

constexpr std::size_t kTextBytesMax = 4U * 1024 * 1024;  // a bomb goes on for much longer

struct Decoded {
  std::string text;
  bool is_whole = false;

  friend bool operator==(const Decoded&, const Decoded&) = default;
};

Decoded decode(std::string_view encoding, std::string_view bytes, std::size_t piece_bytes) {
  auto decoder = ContentDecoder::make(encoding).value();
  Decoded out;
  while (!bytes.empty()) {
    std::string_view piece = bytes.substr(0, piece_bytes);
    bytes.remove_prefix(piece.size());
    do {
      const std::size_t left = piece.size();
      auto text = decoder->decode(piece);
      if (!text) return out;
      ERRAND_ASSERT(text->size() <= ContentDecoder::kBufferBytes);
      ERRAND_ASSERT(piece.size() < left || !text->empty() || !decoder->has_more());
      out.text += *text;
      if (out.text.size() > kTextBytesMax) return out;
    } while (!piece.empty() || decoder->has_more());
  }
  out.is_whole = decoder->finish().has_value();
  return out;
}

}  // namespace
}  // namespace errand::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using errand::net::decode;
  if (size == 0) return 0;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view encoding = input[0] % 2 == 0 ? "gzip" : "deflate";
  input.remove_prefix(1);
  const auto whole = decode(encoding, input, std::max<std::size_t>(input.size(), 1));
  const auto halves = decode(encoding, input, std::max<std::size_t>(input.size() / 2, 1));
  // What comes before a mistake may depend on where the bytes were split, but only in how far.
  const std::size_t common = std::min(whole.text.size(), halves.text.size());
  ERRAND_ASSERT(whole.text.compare(0, common, halves.text, 0, common) == 0);
  ERRAND_ASSERT(whole.is_whole == halves.is_whole);
  if (whole.is_whole) ERRAND_ASSERT(whole == halves);
  return 0;
}

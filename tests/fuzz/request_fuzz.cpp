// Reads its input as the bytes of a connection: whole, in two pieces and byte by byte. The server
// must see the same requests, and the same refusal, however the bytes were split. Built with
// -DERRAND_FUZZ=ON.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "net/server/request_reader.hpp"

namespace errand::net {
namespace {

constexpr std::size_t kBytesMax = 64U * 1024;  // of a body, and of all bodies at once
constexpr std::size_t kSingleBytesMax = 2048;  // of an input that is also read byte by byte

// Adds the requests in the bytes, a line each. False: the reader has refused the rest.
bool advance(RequestReader& reader, std::string& seen) {
  for (;;) {
    auto state = reader.advance();
    if (!state) {
      append(seen, "refused ", state.error().reason(), " ", state.error().message());
      return false;
    }
    if (*state != RequestReader::State::whole) return true;
    ReceivedRequest received = reader.take();
    const Request& request = received.request;
    append(seen, to_string(request.method), " ", request.path, "?", request.query, " ",
           received.keep_alive ? "stays " : "goes ", request.body, "\n");
    for (const Header& header : request.headers) {
      ERRAND_ASSERT(header.value.find_first_of("\r\n") == std::string::npos);
      append(seen, header.name, ":", header.value, "\n");
    }
  }
}

std::string read(std::string_view bytes, std::size_t piece_bytes) {
  ServerLimits limits{.body_bytes_max = kBytesMax};
  BodyBudget budget(kBytesMax, kBytesMax);
  RequestIds ids;
  RequestReader reader(limits, budget, ids);
  std::string seen;
  while (!bytes.empty()) {
    std::span<char> room = reader.prepare();
    const std::size_t count = std::min({bytes.size(), room.size(), piece_bytes});
    ERRAND_ASSERT(count > 0);
    std::memcpy(room.data(), bytes.data(), count);
    reader.commit(count);
    bytes.remove_prefix(count);
    if (!advance(reader, seen)) break;
  }
  return seen;
}

}  // namespace
}  // namespace errand::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using errand::net::read;
  // Every head is whole in the end: a mistake in one that is not may be told at once or later.
  std::string input(reinterpret_cast<const char*>(data), size);
  input += "\r\n\r\n";
  const std::string whole = read(input, input.size());
  ERRAND_ASSERT(read(input, std::max<std::size_t>(input.size() / 2, 1)) == whole);
  if (size <= errand::net::kSingleBytesMax) ERRAND_ASSERT(read(input, 1) == whole);
  return 0;
}

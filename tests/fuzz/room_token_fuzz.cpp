// Bytes as a participant token, as its payload, and as a room key. A token of ours can always be
// read, and only with its own secret. Built with -DERRAND_FUZZ=ON.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json/parse.hpp"
#include "room/access/token.hpp"

namespace errand::room {
namespace {

constexpr std::string_view kSecret = "a-secret-of-more-than-32-bytes-for-tests";
constexpr WallTime kNow{milliseconds(1'800'000'000'000)};

void expect(bool holds) {
  if (!holds) std::abort();
}

void judge(std::string_view text) {
  auto read = read_token(text);
  if (!read) return;
  // Nobody can make a signature up.
  expect(!verify_token(*read, kSecret, kNow));
  expect(read->key_id().size() <= text.size());
}

void sign(std::string_view payload) {
  auto value = json::parse(payload);
  if (!value || !value->is_object()) return;
  const std::string text = sign_token(value->as_object(), kSecret);
  auto read = read_token(text);
  expect(read || text.size() > kTokenBytesMax);
  if (!read) return;
  expect(!verify_token(*read, "another", kNow));
  auto token = verify_token(*read, kSecret, kNow);
  if (!token) return;
  expect(!token->identity.name.empty());
  expect(!token->expires_at || *token->expires_at > kNow);
}

void read_key(std::string_view text) {
  auto key = parse_api_key(text);
  if (!key) return;
  auto again = to_text(*key);
  expect(again && parse_api_key(*again) == key);
}

}  // namespace
}  // namespace errand::room

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  errand::room::judge(text);
  errand::room::sign(text);
  errand::room::read_key(text);
  return 0;
}

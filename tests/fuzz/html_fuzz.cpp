// Reads its input as an answer to web_fetch: a line with its Content-Type, a line with its
// Location, and its body, of any type and encoding. Built with -DERRAND_FUZZ=ON.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "net/url.hpp"
#include "tool/builtin/web/web_page.hpp"
#include "tool/safe_text.hpp"

namespace errand {
namespace {

constexpr std::int64_t kCharsMax = 100;

void check_redirect(std::string_view location) {
  const net::Url here = net::parse_url("https://example.com/a/b?c").value();
  auto next = net::resolve_url(here, location);
  if (next) ERRAND_ASSERT(next->starts_with("http://") || next->starts_with("https://"));
}

void check_page(PageKind kind, const ContentType& type, std::string_view body) {
  if (kind == PageKind::unreadable) return;
  auto url = net::parse_url("https://example.com/a/b").value();
  WebPage page = read_page(kind, type, body, url);
  ERRAND_ASSERT(count_invalid_utf8(page.text) == 0);
  ERRAND_ASSERT(count_invalid_utf8(page.title) == 0);
  const std::int64_t start = static_cast<std::int64_t>(body.size() % 200);
  ERRAND_ASSERT(count_invalid_utf8(page_window(page.text, start, kCharsMax)) == 0);
}

}  // namespace
}  // namespace errand

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace errand;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const ContentType type = ContentType::parse(take_line(input));
  check_redirect(take_line(input));
  check_page(page_kind(type, input), type, input);
  check_page(PageKind::html, type, input);
  return 0;
}

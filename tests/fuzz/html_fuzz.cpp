// Reads its input as a page of any encoding and makes Markdown of it. Built with -DERRAND_FUZZ=ON;
// run it on a folder of inputs of its own.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "net/url.hpp"
#include "tool/builtin/web/web_page.hpp"
#include "tool/safe_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  auto url = errand::net::parse_url("https://example.com/a/b").value();
  auto page = errand::read_page(errand::PageKind::html, {.media = "text/html"}, input, url);
  ERRAND_ASSERT(errand::count_invalid_utf8(page.text) == 0);
  ERRAND_ASSERT(errand::count_invalid_utf8(page.title) == 0);
  return 0;
}

// Compiles the first line of its input as a schema and checks the rest against it. Built with
// -DERRAND_FUZZ=ON; run it on a folder of inputs of its own.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "json/parse.hpp"
#include "json/schema.hpp"

// A million steps would hide from the fuzzer what is slow by mistake.
constexpr std::int64_t kWorkMax = 100'000;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace json = errand::json;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  auto end = input.find('\n');
  if (end == std::string_view::npos) return 0;
  auto schema = json::parse(input.substr(0, end));
  auto instance = json::parse(input.substr(end + 1));
  if (!schema || !instance) return 0;

  auto compiled =
      json::compile_schema(*schema, {.formats = json::Formats::check, .work_max = kWorkMax});
  if (!compiled) {
    ERRAND_ASSERT(!compiled.error().message().empty());
    return 0;
  }
  auto errors = (*compiled)->validate(*instance);
  ERRAND_ASSERT((*compiled)->accepts(*instance) == errors.empty());
  for (const auto& error : errors) ERRAND_ASSERT(!error.message.empty());
  return 0;
}

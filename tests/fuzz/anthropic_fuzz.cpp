// Reads its input as the stream of a message of Anthropic's, and as an error. Built with
// -DERRAND_FUZZ=ON.

#include "llm/anthropic/anthropic_provider.hpp"
#include "support/fuzz_provider.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const errand::llm::AnthropicProvider provider({.model = "m"});
  errand::llm::fuzz_provider(provider, {reinterpret_cast<const char*>(data), size});
  return 0;
}

// Reads its input as the stream of a response of OpenAI's, and as an error. Built with
// -DERRAND_FUZZ=ON.

#include "llm/openai/responses_provider.hpp"
#include "support/fuzz_provider.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const errand::llm::ResponsesProvider provider({.model = "m"});
  errand::llm::fuzz_provider(provider, {reinterpret_cast<const char*>(data), size});
  return 0;
}

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace errand {

// The beginning and the end of an output of any length, as text for a model.
class KeptOutput final {
 public:
  // Together what a result has room for. What is between them is left out, and counted.
  static constexpr std::size_t kFirstBytesMax = 10'000;
  static constexpr std::size_t kLastBytesMax = 20'000;

  void add(std::string_view bytes);

  // Valid UTF-8. "[binary output, N bytes]" for what is no text; empty if there was nothing.
  std::string text() const;

 private:
  bool is_binary() const;

  std::string first_;
  std::string last_;  // holds up to twice its bound, so that it is seldom moved
  std::uint64_t total_ = 0;
  bool has_nul_ = false;
};

}  // namespace errand

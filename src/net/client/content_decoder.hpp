#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace errand::net {

// Undoes the Content-Encoding of a body whose bytes may be split anywhere. Never makes more than
// one buffer at a time, however much the bytes would grow. Every failure is `unavailable`.
class ContentDecoder final {
 public:
  static constexpr std::size_t kBufferBytes = 16U * 1024;

  // For the value of the header; null if the body is not encoded. unsupported: an encoding other
  // than gzip and deflate, or more than one.
  static Result<std::unique_ptr<ContentDecoder>> make(std::string_view encoding);
  ~ContentDecoder();
  ContentDecoder(const ContentDecoder&) = delete;
  ContentDecoder& operator=(const ContentDecoder&) = delete;

  // Decodes from the front of `in`, removes the used bytes, and returns at most kBufferBytes. Call
  // it again while `in` is not empty or has_more().
  Result<std::string> decode(std::string_view& in);
  bool has_more() const { return has_more_; }
  // The body has ended: was that the end of the encoded data? An empty body is fine.
  Result<void> finish() const;

 private:
  struct Inflater;
  enum class Kind { gzip, deflate };

  explicit ContentDecoder(Kind kind);
  Error damaged() const;
  void begin_deflate(std::string_view& in);
  Result<void> inflate_into(std::string& out, std::string_view& in);

  Kind kind_;
  std::unique_ptr<Inflater> inflater_;  // deflate: null until its form is known
  std::string held_;                    // the first bytes of deflate, which tell its form
  bool started_ = false;
  bool ended_ = false;
  bool has_more_ = false;
};

}  // namespace errand::net

#pragma once

#include <boost/system/error_code.hpp>
#include <functional>
#include <memory>
#include <string_view>

namespace errand::net {

// Bytes both ways, for code that Beast drives: one read and one write at a time, each of which
// calls `done` later, never from within the call. Destroying it closes it; nothing may be under way
// then.
class ByteStream {
 public:
  using Done = std::function<void(boost::system::error_code, std::size_t)>;

  virtual ~ByteStream() = default;
  virtual void start_read(char* memory, std::size_t size, Done done) = 0;
  virtual void start_write(std::string_view bytes, Done done) = 0;
  // Makes operations under way fail.
  virtual void close() = 0;
};

}  // namespace errand::net

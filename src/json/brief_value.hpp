#pragma once

#include <boost/json/monotonic_resource.hpp>
#include <cstddef>
#include <string_view>

#include "json/parse.hpp"

namespace errand::json {

// A value that is looked at and dropped, such as one event of a stream. Its parts lie in the memory
// of this object, which is given back at once. Boost.JSON makes copies of parts there, too, so a
// copy must not outlive this object; what is assigned to a value that lies elsewhere may.
class BriefValue final {
 public:
  BriefValue() : memory_(first_memory_, sizeof first_memory_) {}
  BriefValue(const BriefValue&) = delete;
  BriefValue& operator=(const BriefValue&) = delete;

  // As json::parse. Once only.
  Result<const Value*> parse(std::string_view text, ParseOptions options = {});

 private:
  static constexpr std::size_t kFirstBytes = 4096;

  alignas(std::max_align_t) unsigned char first_memory_[kFirstBytes];
  boost::json::monotonic_resource memory_;
  Value value_ = Value(boost::json::storage_ptr(&memory_));
};

}  // namespace errand::json

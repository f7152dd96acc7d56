#include "net/client/client_limits.hpp"

#include "base/text.hpp"

namespace errand::net {

Error TimeLimit::passed(std::string_view peer) const {
  return Error(ErrorCode::timeout,
               cat("the ", name, " timeout of ", length.count(), " ms for ", peer, " passed"))
      .reason(cat(name, "_timeout"));
}

}  // namespace errand::net

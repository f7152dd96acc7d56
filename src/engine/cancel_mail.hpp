#pragma once

#include <string>
#include <string_view>

#include "run/log/mail.hpp"
#include "store/records.hpp"

namespace errand::engine {

// Asks a run to stop.
inline Mail cancel_mail(RunKey run, std::string_view reason) {
  return {.to = std::move(run),
          .slot = std::string(kCancelSlot),
          .kind = MailKind::cancel,
          .body = std::string(reason)};
}

}  // namespace errand::engine

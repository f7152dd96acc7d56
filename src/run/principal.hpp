#pragma once

#include <string>

#include "run/ids.hpp"

namespace errand {

// Who is asking: a workspace, known by one of its keys.
struct Principal {
  WorkspaceSlug workspace;
  KeyId key;
};

}  // namespace errand

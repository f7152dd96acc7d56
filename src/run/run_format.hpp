#pragma once

namespace errand {

// The version of what journals and mail mean. A program leaves a run of a newer format alone.
constexpr int kRunFormat = 2;

}  // namespace errand

#pragma once

namespace errand {

// Where JSON comes from, or goes to: a caller, or the journal of a run.
enum class Origin { wire, journal };

}  // namespace errand

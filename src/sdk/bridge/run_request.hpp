#pragma once

#include <string>

#include <errand/run.hpp>

#include "base/result.hpp"
#include "run/fork.hpp"
#include "run/spec.hpp"

namespace errand::sdk {

// What a program asks of a run, checked as a server checks the body of a request.
struct RunRequest {
  json::Object body;  // as a client sends it; without the tools of this process
  Spec spec;          // the same, read
};

// invalid_argument: with a pointer into the body.
Result<RunRequest> read_request(const v1::RunOptions& options);

// A fork of another run by what the options say; what they leave out stays as it is there.
// invalid_argument: the id is none.
Result<RunId> forked_run(const v1::ForkPoint& point);
ForkParams fork_params(RunRequest request, const v1::ForkPoint& point);

}  // namespace errand::sdk

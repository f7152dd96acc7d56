#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <errand/agent.hpp>
#include <errand/run.hpp>

#include "base/result.hpp"
#include "run/fork.hpp"
#include "run/spec.hpp"

namespace errand::sdk {

// What a program asks of a run, checked as a server checks the body of a request.
struct RunRequest {
  json::Object body;  // in the program's words, as a server is sent it
  Spec spec;          // the same, read
};

// Whether tools may be of kinds that this version does not know: a newer server may.
enum class ToolKinds : std::uint8_t { known, any };
// Whether a prompt or messages have to be there. Sessions and forks may do without.
enum class Says : std::uint8_t { something, anything };
struct RequestRules {
  ToolKinds kinds = ToolKinds::known;
  Says says = Says::something;
};

// An agent as a client sends it to be stored. The server checks it.
json::Object agent_body(const v1::AgentSpec& agent);

// Whether the rules of the tools are to be added to a system prompt that the options leave to a
// session or to the run that is forked.
bool needs_inherited_prompt(const v1::RunOptions& options);

// `inherited_prompt` is that prompt, if it is needed. invalid_argument: with a pointer into the
// body.
Result<RunRequest> read_request(const v1::RunOptions& options, RequestRules rules = {},
                                const std::string& inherited_prompt = {});

// Adds the tools of this process to those that a request has.
void add_refs(RunRequest& request, std::vector<ToolRef> refs);

// A fork of another run by what the options say; what they leave out stays as it is there.
// invalid_argument: the id is none.
Result<RunId> forked_run(const v1::ForkPoint& point);
ForkParams fork_params(RunRequest request, const v1::ForkPoint& point);

}  // namespace errand::sdk

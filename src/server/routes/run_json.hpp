#pragma once

#include <string>
#include <string_view>

#include "engine/engine.hpp"
#include "json/value.hpp"
#include "store/store.hpp"

namespace errand::server {

// A run in lists.
json::Object row_json(const RunRow& row);
// Adds the members that a list shows on request: the run's prompt, and what the run waits for.
void add_about(json::Object& out, const engine::RunView& run);
// A run on its own, with what became of it.
json::Object snapshot_json(const engine::RunView& run);

// What a caller asked for. Headers carry credentials, and are not shown again.
json::Object shown_spec(const Spec& spec);

// The warnings to the caller of a create about the request; empty if every member was understood.
json::Array warnings_json(const Spec& spec);

// Where a run was forked.
json::Object fork_json(const ForkedFrom& fork);

// A call that waits for a client.
json::Object call_json(const engine::PendingCall& call);

}  // namespace errand::server

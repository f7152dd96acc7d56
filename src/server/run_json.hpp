#pragma once

#include <string>
#include <string_view>

#include "engine/engine.hpp"
#include "json/value.hpp"
#include "store/store.hpp"

namespace errand::server {

// A run in lists.
json::Object row_json(const RunRow& row);
// A run on its own, with what became of it.
json::Object snapshot_json(const engine::RunView& run);

// Tells equal request bodies from different ones.
std::string fingerprint(std::string_view body);

}  // namespace errand::server

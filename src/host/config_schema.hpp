#pragma once

#include <string>
#include <vector>

#include "json/value.hpp"

namespace errand::host {

// The parts of a configuration file that have settings of their own.
enum class Section {
  root,
  vendor_model,  // a model behind HTTP
  other_model,
  pricing,
  workspace,
  mcp_server,
  limits,
  network,
  rooms,
  search,
  telemetry,
  compatibility,
};

// The settings that a part may have: what the reader takes and the schema describes.
std::vector<std::string> settings_of(Section section);

// The JSON Schema (2020-12) of the configuration file.
json::Value config_schema();

}  // namespace errand::host

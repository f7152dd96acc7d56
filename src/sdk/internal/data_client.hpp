#pragma once

#include <string>

#include "sdk/internal/api_client.hpp"

namespace errand::sdk {

// What to ask if neither a server nor a data directory is there.
enum class WithoutData { is_refused, uses_memory };

// What a command reads that needs no running server.
struct DataPlace {
  ServerFlags server;
  std::string config = {};  // of the models without a server
  WithoutData without = WithoutData::is_refused;
};

// A client of the server that find_server finds. If it finds none, or only the one of the data
// directory, and no server uses the directory, this process answers for it: the requests go to the
// routes of a server without a port. It drives no runs, except to end those that it cancels.
// invalid_argument: the workspace, the configuration or the directory cannot be used. Other errors
// are those of find_server, for which `is_server` is set, and of the store.
struct OpenedData {
  Result<ApiClientPtr> client;
  bool is_server = false;
};
OpenedData open_data(const DataPlace& place);

}  // namespace errand::sdk

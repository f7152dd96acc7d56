#pragma once

#include "base/id.hpp"
#include "engine/records/master_keys.hpp"
#include "engine/records/room_keys.hpp"
#include "engine/records/secret_vault.hpp"
#include "store/named_records.hpp"
#include "store/store.hpp"

namespace errand::engine {

// What the workspaces of a server keep beside their runs. Lives on the engine's home.
struct RecordBooks {
  // They outlive this.
  RecordBooks(Store& store, IdSource& ids, MasterKeys& keys)
      : agents(store, ids, "agent"),
        tools(store, ids, "tool"),
        secrets(store, keys),
        rooms(store, ids, "room"),
        room_keys(store, secrets) {}
  RecordBooks(const RecordBooks&) = delete;
  RecordBooks& operator=(const RecordBooks&) = delete;

  NamedRecords agents;
  NamedRecords tools;
  SecretVault secrets;
  NamedRecords rooms;
  RoomKeys room_keys;
};

}  // namespace errand::engine

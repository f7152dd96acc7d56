#pragma once

#include <cstddef>

#include "base/clock.hpp"
#include "room/wire/framing.hpp"
#include "room/wire/toolkit.hpp"

namespace errand::room {

// Every bound of one room, with what happens at it.
struct RoomLimits {
  FrameLimits frames = {};      // the connection is closed
  ToolkitLimits toolkits = {};  // the registration is refused with 1002

  std::size_t participants_max = 10'000;       // the join is refused
  std::size_t connections_of_one_max = 1'000;  // with the same token, or ones like it: the same
  std::size_t toolkits_of_one_max = 100;       // of one participant: 1002
  // Of toolkits, as lists show them. A list of everything has to fit into the queue of a
  // connection, or listing would end it: 1002 for a participant's own, 1008 for the room's.
  std::size_t registered_bytes_of_one_max = 4U * 1024 * 1024;
  std::size_t registered_bytes_max = 8U * 1024 * 1024;  // of all public toolkits
  std::size_t attributes_bytes_max = 65536;             // of one participant: the change is ignored
  // Of all participants, as presence shows them, for the same reason: a change is ignored, a join
  // is refused.
  std::size_t presence_bytes_max = 8U * 1024 * 1024;
  std::size_t calls_of_one_max = 1'000;  // in flight, of one caller: 1006
  std::size_t calls_to_one_max = 4'000;  // in flight, to one host: 1006
  std::size_t lists_of_one_max = 100;    // waiting for a participant, or to be read: 1008
  // What a waiting call keeps: its tool_call_id, and the name of the participant that a list waits
  // for: 1002.
  std::size_t kept_name_bytes_max = 1024;

  std::size_t queues_max = 200;                     // of a room: 1008
  std::size_t queue_items_max = 10'000;             // of a queue: 1008
  std::size_t queue_bytes_max = 64U * 1024 * 1024;  // of all messages of a room: 1008
  std::size_t queue_changes_max = 1'000;            // under way in the store: 1008
  std::size_t queue_calls_waiting_max = 1'000;      // until the queues are read: 1008
  std::size_t queue_receivers_max = 1'000;          // waiting for a message of a queue: 1008
  std::size_t queue_name_bytes_max = 256;           // 1002

  std::size_t agent_calls_max = 20;              // of agents by URL, under way in a room: 1008
  std::size_t agent_called_by_bytes_max = 1024;  // agents that agents have called: 1002

  std::size_t log_listeners_max = 100;  // 1008
  std::size_t log_bytes_max = 65536;    // of one line: 1002

  std::size_t files_max = 10'000;                             // of a room: 1008
  std::uint64_t file_bytes_max = 256ULL * 1024 * 1024;        // of a file: 1008
  std::uint64_t files_bytes_max = 2ULL * 1024 * 1024 * 1024;  // of all files of a room: 1008
  std::size_t file_path_bytes_max = 512;                      // 3004
  std::size_t file_call_bytes_max = 65536;                    // of a request without a stream: 1002
  std::size_t transfers_of_one_max = 20;       // uploads and downloads of a participant: 1008
  std::size_t transfers_max = 500;             // of a room: 1008
  std::size_t file_calls_waiting_max = 1'000;  // until the files are read, or changed: 1008

  // Chunks that arrive before the call that they belong to: the oldest ones are dropped.
  std::size_t early_chunks_max = 32;
  std::size_t early_bytes_max = 1024U * 1024;

  // How long progress of a call is passed on after its answer; then it is dropped.
  milliseconds progress_after_answer{2'000};
  std::size_t answered_calls_max = 4'000;  // beyond, the oldest are forgotten
  milliseconds list_wait_max{60'000};      // a list waits no longer
};

}  // namespace errand::room

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"

namespace errand::load {

enum class Scenario { runs, created, paused, held, streams, messages };

struct Options {
  Scenario scenario = Scenario::runs;
  std::uint16_t port = 0;  // of the server, on 127.0.0.1
  std::string key;
  std::string workspace = "default";
  std::string model;   // empty: the server's default
  std::string tool;    // the one tool that the client offers; empty: none
  std::string plugin;  // the one tool of the server that runs may call; empty: none
  std::string mcp;     // the MCP server of the configuration that runs may call; empty: none
  std::size_t runs = 1;
  std::size_t in_flight = 8;
  std::size_t pace_ms = 0;     // of a stream's deltas
  std::size_t per_second = 0;  // how many runs are made; 0: as many as go
  std::size_t sessions = 100;
  std::size_t turns = 1;  // that a session has before it is measured
};

constexpr const char* kUsage =
    "Usage: errand_load runs|created|paused|held|streams|messages --port PORT --key KEY\n"
    "                   [--workspace SLUG] [--model ID] [--tool NAME] [--plugin NAME] [--mcp "
    "NAME]\n"
    "                   [--runs N] [--in-flight N] [--pace MS] [--per-second N] [--sessions N]\n"
    "                   [--turns N]\n"
    "\n"
    "Drives the server on 127.0.0.1 and prints one line of JSON.\n"
    "  runs    makes N runs, so many in flight, answers their calls and reads them to the end\n"
    "  created makes N runs, at most so many per second, and leaves them to themselves\n"
    "  paused  opens N runs until each waits for its client, prints a line, waits for a line on\n"
    "          stdin, then answers them all and reads them to the end\n"
    "  held    opens N runs until the model of each has begun to speak, prints a line, waits for "
    "a\n"
    "          line on stdin, then leaves\n"
    "  streams makes N runs, one more every 2 ms, reads them to the end, and tells how late "
    "deltas\n"
    "          come that the model sends at the pace of one in so many ms\n"
    "  messages makes sessions that have so many turns, prints a line, waits for a line on stdin,\n"
    "          then sends N messages to them in turn and reads each answer\n";

// Of the words after the program's name. invalid_argument: the message says which one is wrong.
Result<Options> parse_options(std::span<const char* const> words);

}  // namespace errand::load

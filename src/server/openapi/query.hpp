#pragma once

#include "server/openapi/parameter.hpp"

// The parameters of queries. A handler reads a parameter by its row here, and the route's row in
// the table names the same row.
namespace errand::server::query {

inline constexpr IntegerRange kPage{.min = 1, .max = 200};
inline constexpr IntegerRange kLongPage{.min = 1, .max = 1000};

inline constexpr Parameter kLimit =
    integer_parameter("limit", 50, kPage, "How many items a page has at most.");
inline constexpr Parameter kCursor =
    text_parameter("cursor", "The `nextCursor` of the page before.");
inline constexpr Parameter kMetadata =
    pairs_parameter("metadata", "`KEY:VALUE`. If repeated, every pair has to be in the metadata.");

inline constexpr Parameter kCreatedAfter =
    text_parameter("createdAfter", "Only what was created at this time (ISO 8601) or later.");
inline constexpr Parameter kCreatedBefore =
    text_parameter("createdBefore", "Only what was created before this time (ISO 8601).");

// Runs.
inline constexpr Parameter kSession = text_parameter("sessionId", "Only runs of this session.");
inline constexpr Parameter kAgent =
    text_parameter("agentId", "Only runs of this agent, by its id or name.");
inline constexpr Parameter kParentRun =
    text_parameter("parentRunId", "Only runs of agents that this run has called.");
inline constexpr Parameter kRunStatus =
    choice_parameter("status",
                     "Only runs with this status. `waiting` finds those of the running ones that "
                     "wait for a tool call to be answered.",
                     "queued", "running", "waiting", "succeeded", "failed", "cancelled");
inline constexpr Parameter kAbout =
    choice_parameter("about",
                     "`true`: each run has `about`, the beginning of what it was asked last, and "
                     "`pendingCalls`.",
                     "true", "false");
inline constexpr Parameter kLastSeq = text_parameter(
    "lastSeq",
    "The last event that the client has seen. The larger of this and `Last-Event-ID` counts; "
    "anything but a number is ignored.");
inline constexpr Parameter kNotices =
    choice_parameter("notices",
                     "`true`: frames `model_retry`, without an id, tell that the model is asked "
                     "again in `pauseMs`, and why. They are not part of the run's log.",
                     "true", "false");
inline constexpr Parameter kEventsAfter =
    integer_parameter("after", 0, {.min = 0}, "Only events with a larger `seq`.");
inline constexpr Parameter kEventsLimit =
    integer_parameter("limit", 200, kLongPage, "How many events a page has at most.");
inline constexpr Parameter kEntriesAfter = integer_parameter(
    "after", 0, {.min = 0, .max = INT32_MAX}, "How many entries of the journal to skip.");
inline constexpr Parameter kEntriesLimit =
    integer_parameter("limit", 200, kLongPage, "How many entries a page has at most.");

// Tool calls.
inline constexpr Parameter kCallStatus =
    choice_parameter("status", "Only tool calls with this status.", "pending", "claimed");
inline constexpr Parameter kCallName = text_parameter("name", "Only calls of this tool.");
inline constexpr Parameter kWait = integer_parameter(
    "wait", 0, {.min = 0, .max = 60}, "How many seconds to wait for a call if there is none.");

// Sessions.
inline constexpr Parameter kPurge = choice_parameter(
    "purge", "`true` removes a session that has ended, with its runs.", "true", "false");
inline constexpr Parameter kSessionStatus =
    choice_parameter("status", "Only sessions with this status.", "active", "ended");
inline constexpr Parameter kOffset = integer_parameter(
    "offset", 0, {.min = 0, .max = INT32_MAX}, "How many items to skip. Cursors are cheaper.");
inline constexpr Parameter kSessionAgent =
    text_parameter("agentId", "Only sessions of this agent, by its id or name.");
inline constexpr Parameter kFull = choice_parameter(
    "full", "`1` or `true`: all messages, whatever `lastMessages` says.", "0", "1", "true");
inline constexpr Parameter kLastMessages = open_integer_parameter(
    "lastMessages", {.min = 1, .max = INT32_MAX}, "At most this many of the newest messages.");
inline constexpr Parameter kBeforeSeq =
    open_integer_parameter("beforeSeq", {.min = 1}, "Only messages before this one.");

// Agents and stored tools.
inline constexpr Parameter kVersion =
    open_integer_parameter("version", {.min = 1}, "An earlier version (default: the latest).");

// Rooms.
inline constexpr Parameter kRoomToken = text_parameter("token", "A participant token.");

// Models.
inline constexpr Parameter kCheck = choice_parameter(
    "check", "`true` asks each vendor whether the model can be reached.", "true", "false");
inline constexpr Parameter kNamedModel = text_parameter(
    "named", "Lists this model, too, which runs can only name, such as `openai/gpt-5.5`.");

}  // namespace errand::server::query

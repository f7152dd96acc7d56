// Schemas of sessions and their messages.
#include "server/openapi/schemas.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kSessionSchemas = R"json({
  "WhenBusy": {
    "type": "string",
    "enum": ["queue", "reject", "interrupt"],
    "description": [
      "What a message does that arrives while a run of the session is in progress (default:",
      "`queue`)."
    ]
  },
  "SessionRequest": {
    "type": "object",
    "description": [
      "The members that every run of the session has. The first message comes with `POST",
      ".../messages`."
    ],
    "example": {"systemPrompt": "You are brief."},
    "properties": {
      "agentId": {
        "type": "string",
        "description": "The id or the name of a stored agent that carries out the runs."
      },
      "systemPrompt": {"type": "string"},
      "modelId": {"type": "string"},
      "fallbackModelId": {
        "type": "string",
        "description": "The fallback model, asked if the first model gives no answer."
      },
      "retainTools": {
        "type": "string",
        "enum": ["marked", "all"],
        "default": "marked",
        "description": "Which tool calls a session remembers: those of tools with `retain`, or all."
      },
      "name": {"type": "string", "maxLength": "=nameChars"},
      "tools": {
        "type": "array",
        "maxItems": "=tools",
        "items": {"$ref": "#/components/schemas/Tool"}
      },
      "metadata": {"$ref": "#/components/schemas/Metadata"},
      "room": {"$ref": "#/components/schemas/RunRoom"},
      "requiredToolkits": {"$ref": "#/components/schemas/RequiredToolkits"},
      "budgets": {"$ref": "#/components/schemas/Budgets"},
      "loopDetection": {"$ref": "#/components/schemas/LoopDetection"},
      "toolBudgets": {"$ref": "#/components/schemas/ToolBudgets"},
      "reasoningLevel": {"$ref": "#/components/schemas/ReasoningLevel"},
      "outputSchema": {"$ref": "#/components/schemas/OutputSchema"},
      "whenBusy": {"$ref": "#/components/schemas/WhenBusy"},
      "plan": {"$ref": "#/components/schemas/Plan"},
      "supervisor": {"$ref": "#/components/schemas/Supervisor"}
    }
  },
  "SessionCreated": {
    "type": "object",
    "required": ["sessionId", "id", "name", "createdAt"],
    "properties": {
      "sessionId": {"type": "string"},
      "id": {"type": "string"},
      "name": {"type": "string"},
      "createdAt": {"type": "string", "format": "date-time"},
      "warnings": {"$ref": "#/components/schemas/Warnings"}
    }
  },
  "SessionStatus": {"type": "string", "enum": ["active", "ended"]},
  "SessionListItem": {
    "type": "object",
    "required": [
      "id", "sessionId", "name", "status", "creationDate", "lastInteractionDate", "summary",
      "metadata"
    ],
    "properties": {
      "id": {"type": "string"},
      "sessionId": {"type": "string"},
      "name": {"type": "string"},
      "status": {"$ref": "#/components/schemas/SessionStatus"},
      "creationDate": {"type": "string", "format": "date-time"},
      "lastInteractionDate": {"type": "string", "format": "date-time"},
      "summary": {"type": "string", "description": "How the conversation begins."},
      "metadata": {"$ref": "#/components/schemas/Metadata"}
    }
  },
  "SessionList": {
    "type": "object",
    "required": ["total", "limit", "offset", "sessions", "nextCursor"],
    "properties": {
      "total": {"type": "integer"},
      "limit": {"type": "integer"},
      "offset": {"type": "integer"},
      "sessions": {"type": "array", "items": {"$ref": "#/components/schemas/SessionListItem"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  },
  "Session": {
    "type": "object",
    "required": [
      "id", "sessionId", "name", "status", "createdAt", "lastUsedAt", "endedAt", "agentSpec",
      "whenBusy", "messages", "metadata", "currentRunId", "queuedRuns", "truncated"
    ],
    "properties": {
      "id": {"type": "string"},
      "sessionId": {"type": "string"},
      "name": {"type": "string"},
      "status": {"$ref": "#/components/schemas/SessionStatus"},
      "createdAt": {"type": "string", "format": "date-time"},
      "lastUsedAt": {"type": "string", "format": "date-time"},
      "endedAt": {"type": ["string", "null"], "format": "date-time"},
      "agentSpec": {"type": "object"},
      "whenBusy": {"$ref": "#/components/schemas/WhenBusy"},
      "messages": {
        "type": "array",
        "items": {"$ref": "#/components/schemas/Message"},
        "description": "The history: messages of runs that succeeded."
      },
      "metadata": {"$ref": "#/components/schemas/Metadata"},
      "currentRunId": {"type": ["string", "null"]},
      "queuedRuns": {"type": "integer"},
      "truncated": {
        "type": "boolean",
        "description": "Only the newest 8 MB of the history are shown."
      }
    }
  },
  "MessageRequest": {
    "type": "object",
    "description": [
      "What the user says: give either `prompt` or `messages`. The other members are for this run",
      "alone."
    ],
    "example": {"prompt": "And tomorrow?"},
    "properties": {
      "prompt": {"type": "string"},
      "messages": {
        "type": "array",
        "minItems": 1,
        "maxItems": "=messages",
        "items": {"$ref": "#/components/schemas/Message"}
      },
      "systemPrompt": {"type": "string"},
      "modelId": {"type": "string"},
      "fallbackModelId": {"type": "string"},
      "budgets": {"$ref": "#/components/schemas/Budgets"},
      "tools": {
        "type": "array",
        "maxItems": "=tools",
        "items": {"$ref": "#/components/schemas/Tool"}
      },
      "metadata": {"$ref": "#/components/schemas/Metadata"},
      "loopDetection": {"$ref": "#/components/schemas/LoopDetection"},
      "toolBudgets": {"$ref": "#/components/schemas/ToolBudgets"},
      "reasoningLevel": {"$ref": "#/components/schemas/ReasoningLevel"},
      "outputSchema": {"$ref": "#/components/schemas/OutputSchema"},
      "whenBusy": {"$ref": "#/components/schemas/WhenBusy"},
      "plan": {"$ref": "#/components/schemas/Plan"},
      "supervisor": {"$ref": "#/components/schemas/Supervisor"}
    }
  },
  "SessionEvents": {
    "type": "object",
    "required": ["sessionId", "total", "events", "truncated", "nextBeforeSeq"],
    "properties": {
      "sessionId": {"type": "string"},
      "total": {"type": "integer", "description": "For the whole session, not for the page."},
      "events": {
        "type": "array",
        "items": {
          "type": "object",
          "required": ["seq", "type", "text"],
          "properties": {
            "seq": {
              "type": "integer",
              "minimum": 1,
              "description": "The message's place in the conversation."
            },
            "type": {"type": "string"},
            "text": {"type": "string"},
            "runId": {"type": "string", "description": "The run that the message belongs to."},
            "attachments": {"type": "array", "items": {"$ref": "#/components/schemas/Attachment"}},
            "retained": {
              "type": "array",
              "items": {"$ref": "#/components/schemas/RetainedCall"},
              "description": "The tool calls of the run that the session remembers."
            }
          }
        }
      },
      "truncated": {"type": "boolean"},
      "nextBeforeSeq": {
        "type": ["integer", "null"],
        "description": "Send it as `beforeSeq` for older messages."
      }
    }
  },
  "RetainedCall": {
    "type": "object",
    "required": ["toolUseId", "name", "arguments", "ok", "result"],
    "properties": {
      "toolUseId": {"type": "string"},
      "name": {"type": "string"},
      "arguments": {"type": "string", "description": "JSON."},
      "ok": {"type": "boolean"},
      "result": {"type": "string"},
      "text": {"type": "string", "description": "What the model said before the call."}
    }
  },
  "Done": {"type": "object", "required": ["ok"], "properties": {"ok": {"const": true}}}
})json";

}  // namespace

std::string_view session_schemas() {
  return kSessionSchemas;
}

}  // namespace errand::server

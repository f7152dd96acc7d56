// Schemas of a run's events, and of what the last events have in common.
#include "server/openapi/schemas.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kEventSchemas = R"json({
  "Tokens": {
    "type": "object",
    "required": ["inputTokens", "cachedTokens", "reasoningTokens", "outputTokens"],
    "properties": {
      "inputTokens": {"type": "integer"},
      "cachedTokens": {"type": "integer"},
      "reasoningTokens": {"type": "integer"},
      "outputTokens": {"type": "integer"}
    }
  },
  "ModelUsed": {
    "type": "object",
    "required": ["id", "provider", "vendorModelId"],
    "properties": {
      "id": {"type": "string"},
      "provider": {"type": "string"},
      "vendorModelId": {"type": "string"},
      "reasoningEffort": {"type": "string"}
    }
  },
  "StructuredOutput": {
    "type": "object",
    "description": "Whether and how the answer was held to the run's output schema.",
    "required": [
      "schemaRequested", "schemaEnforced", "enforcementMechanism", "unconstrainedFallbackOccurred"
    ],
    "properties": {
      "schemaRequested": {"type": "boolean"},
      "schemaEnforced": {"type": "boolean"},
      "enforcementMechanism": {
        "type": "string",
        "enum": ["native_schema", "synthetic_tool", "none"]
      },
      "unconstrainedFallbackOccurred": {"type": "boolean"}
    }
  },
  "Event": {
    "type": "object",
    "required": ["seq", "type"],
    "description": [
      "An event of a run's log. The stream repeats all members but `seq` and `type` in `data`.",
      "Clients skip types that they do not know."
    ],
    "properties": {
      "seq": {"type": "integer", "minimum": 1},
      "type": {"type": "string"},
      "data": {"type": "object"}
    }
  },
  "EventList": {
    "type": "object",
    "required": ["events", "nextCursor"],
    "properties": {
      "events": {"type": "array", "items": {"$ref": "#/components/schemas/Event"}},
      "nextCursor": {
        "type": ["string", "null"],
        "description": "Send it as `after` for the next page."
      }
    }
  },
  "event.assistant_delta": {
    "type": "object",
    "description": "A piece of what the model says.",
    "required": ["text"],
    "properties": {"text": {"type": "string"}}
  },
  "event.thinking_delta": {
    "type": "object",
    "description": "A piece of what the model thinks.",
    "required": ["text"],
    "properties": {"text": {"type": "string"}}
  },
  "event.assistant_message": {
    "type": "object",
    "description": "A finished turn of the model.",
    "required": ["text", "turn", "finishReason"],
    "properties": {
      "text": {"type": "string"},
      "turn": {"type": "integer"},
      "finishReason": {"type": "string"},
      "toolCalls": {
        "type": "array",
        "items": {
          "type": "object",
          "required": ["id", "name", "input"],
          "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "input": {}}
        }
      }
    }
  },
  "event.local_tool_call": {
    "type": "object",
    "description": "A tool call that the client answers with `POST .../tool-results`.",
    "required": ["toolUseId", "name", "args", "kind"],
    "properties": {
      "toolUseId": {"type": "string"},
      "name": {"type": "string"},
      "args": {"type": "object"},
      "kind": {"type": "string", "enum": ["local", "a2a_local", "mcp_local"]},
      "agentCard": {"type": "object", "description": "For `a2a_local`."},
      "mcpServer": {"type": "string", "description": "For `mcp_local`."},
      "mcpToolName": {"type": "string", "description": "For `mcp_local`."},
      "mcpServerInfo": {"type": "object", "description": "For `mcp_local`."},
      "annotations": {"type": "object", "description": "For `mcp_local`."}
    }
  },
  "event.local_tool_result_in": {
    "type": "object",
    "description": "The client's answer to a tool call has arrived.",
    "required": ["toolUseId", "name"],
    "properties": {
      "toolUseId": {"type": "string"},
      "name": {"type": "string"},
      "result": {"type": "string"},
      "output": {"type": "string", "description": "The same as `result`."},
      "error": {"type": "string"},
      "files": {"type": "array", "items": {"type": "object"}}
    }
  },
  "event.tool_call": {
    "type": "object",
    "description": "A tool call that the server makes.",
    "required": ["toolUseId", "name", "input"],
    "properties": {
      "toolUseId": {"type": "string"},
      "name": {"type": "string"},
      "input": {},
      "childRunId": {"type": "string", "description": "For an `agent` tool: the agent's run."}
    }
  },
  "event.tool_result": {
    "type": "object",
    "description": [
      "The result of a call that the server made, or that it gave in place of the client."
    ],
    "required": ["toolUseId", "name", "ok"],
    "properties": {
      "toolUseId": {"type": "string"},
      "name": {"type": "string"},
      "ok": {"type": "boolean"},
      "summary": {"type": "string"},
      "result": {"type": "string"},
      "files": {"type": "array", "items": {"type": "object"}}
    }
  },
  "event.tool_progress": {
    "type": "object",
    "description": "The progress of a tool call.",
    "required": ["toolUseId", "name"],
    "properties": {
      "toolUseId": {"type": "string"},
      "name": {"type": "string"},
      "message": {"type": "string"},
      "progress": {"type": "number"},
      "total": {"type": "number"},
      "childRunId": {"type": "string", "description": "For an `agent` tool: the agent's run."}
    }
  },
  "event.loop_detected": {
    "type": "object",
    "description": "The model repeats the same tool calls.",
    "required": ["consecutiveCount", "hardCutoff", "tools"],
    "properties": {
      "consecutiveCount": {"type": "integer"},
      "hardCutoff": {"type": "boolean", "description": "The model has to answer without tools."},
      "tools": {"type": "array", "items": {"type": "string"}}
    }
  },
  "event.tool_budget_exceeded": {
    "type": "object",
    "description": "A call was not made because its tool has no calls left.",
    "required": ["tool", "maxCalls", "callIndex"],
    "properties": {
      "tool": {"type": "string"},
      "maxCalls": {"type": "integer"},
      "callIndex": {
        "type": "integer",
        "description": "Which attempt to call the tool this was, counted from 1."
      }
    }
  },
  "event.turn_restarted": {
    "type": "object",
    "description": "Everything streamed in this turn is void: the model is asked again.",
    "required": ["turn", "attempt"],
    "properties": {"turn": {"type": "integer"}, "attempt": {"type": "integer"}}
  },
  "event.result": {
    "type": "object",
    "description": "The end of a run that succeeded, or that stopped at one of its limits.",
    "required": ["ok", "subtype", "tokens", "turns", "model"],
    "properties": {
      "ok": {"type": "boolean"},
      "subtype": {
        "type": "string",
        "description": "`success`, or `error_...` for the limit that was met."
      },
      "text": {"type": "string"},
      "error": {"type": "string"},
      "message": {"type": "string"},
      "tokens": {"$ref": "#/components/schemas/Tokens"},
      "turns": {"type": "integer"},
      "model": {"$ref": "#/components/schemas/ModelUsed"},
      "structuredOutput": {"$ref": "#/components/schemas/StructuredOutput"},
      "costUsd": {"$ref": "#/components/schemas/CostUsd"}
    }
  },
  "event.error": {
    "type": "object",
    "description": "The end of a run that failed because of the model, its vendor or the server.",
    "required": ["error", "message", "code", "errorClass", "retryable", "tokens", "turns", "model"],
    "properties": {
      "error": {"type": "string"},
      "message": {"type": "string", "description": "The same as `error`."},
      "code": {"type": "string", "description": "The same as `errorClass`."},
      "errorClass": {"type": "string"},
      "finishReason": {"type": "string"},
      "partialText": {"type": "string"},
      "apiStatus": {"type": "integer", "description": "From the vendor's answer."},
      "apiCode": {"type": "string", "description": "From the vendor's answer."},
      "retryable": {"type": "boolean"},
      "tokens": {"$ref": "#/components/schemas/Tokens"},
      "turns": {"type": "integer"},
      "model": {"$ref": "#/components/schemas/ModelUsed"},
      "structuredOutput": {"$ref": "#/components/schemas/StructuredOutput"},
      "costUsd": {"$ref": "#/components/schemas/CostUsd"}
    }
  },
  "event.cancelled": {
    "type": "object",
    "description": "The end of a run that was cancelled.",
    "required": ["reason", "tokens", "turns", "model"],
    "properties": {
      "reason": {"type": "string"},
      "tokens": {"$ref": "#/components/schemas/Tokens"},
      "turns": {"type": "integer"},
      "model": {"$ref": "#/components/schemas/ModelUsed"},
      "structuredOutput": {"$ref": "#/components/schemas/StructuredOutput"},
      "costUsd": {"$ref": "#/components/schemas/CostUsd"}
    }
  }
})json";

}  // namespace

std::string_view event_schemas() {
  return kEventSchemas;
}

}  // namespace errand::server

// Schemas of tools, and of calls that wait for a client.
#include "server/openapi/schemas.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kCallSchemas = R"json({
  "Tool": {
    "type": "object",
    "required": ["kind"],
    "description": [
      "A tool that the model may call. `kind` says who runs it: `local`, `mcp_local` and",
      "`a2a_local` are the client's; `mcp`, `a2a`, `agent`, `mantyx` and `mantyx_plugin` are the",
      "server's."
    ],
    "properties": {
      "kind": {
        "type": "string",
        "enum": ["local", "a2a_local", "mcp_local", "mcp", "a2a", "mantyx", "mantyx_plugin",
                 "agent"]
      },
      "name": {
        "type": "string",
        "description": [
          "1 to 64 letters, digits and underscores. For `mantyx_plugin`: the plugin's name."
        ]
      },
      "description": {"type": "string"},
      "parameters": {
        "type": "object",
        "description": "For `local`: a JSON Schema of the arguments."
      },
      "outputSchema": {
        "type": "object",
        "description": "For `local`: a JSON Schema of the result."
      },
      "readOnly": {"type": "boolean", "default": false},
      "idempotent": {"type": "boolean", "default": false},
      "parallelSafe": {"type": "boolean", "default": true},
      "longRunning": {"type": "boolean", "default": false},
      "timeoutMs": {
        "type": "integer",
        "minimum": 1,
        "description": "For `local` and `mcp`: how long a call may take."
      },
      "retain": {
        "type": "boolean",
        "default": false,
        "description": "A session remembers the calls of this tool."
      },
      "cancelSiblings": {
        "type": "boolean",
        "default": false,
        "description": "For `local`: a failed call cancels the turn's calls without a result."
      },
      "checksArguments": {
        "type": "boolean",
        "default": false,
        "description": "For `local`: the client checks the arguments; any JSON object reaches it."
      },
      "checksResults": {
        "type": "boolean",
        "default": false,
        "description": "For `local`: the client checks its results against `outputSchema`."
      },
      "id": {"type": "string", "description": "For `mantyx`: a tool of the workspace."},
      "url": {"type": "string", "description": "For `mcp`: the server's address."},
      "agentCardUrl": {
        "type": "string",
        "description": "For `a2a`: the address of the agent's card."
      },
      "contextId": {"type": "string", "description": "For `a2a`."},
      "agentId": {
        "type": "string",
        "description": "For `agent`: the id or name of a stored agent. A call is a run of its own."
      },
      "headers": {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "description": [
          "For `mcp` and `a2a`: sent with every request. Answers never show their values."
        ]
      },
      "toolFilter": {
        "type": "array",
        "maxItems": "=toolFilter",
        "items": {"type": "string", "minLength": 1},
        "description": "For `mcp`: the tools to offer (default: all)."
      },
      "agentCard": {"type": "object", "description": "For `a2a_local`."},
      "continuesTasks": {
        "type": "boolean",
        "default": false,
        "description": "For `a2a_local`: calls may have `taskId` and `contextId` beside `message`."
      },
      "serverInfo": {"type": "object", "description": "For `mcp_local`."},
      "tools": {
        "type": "array",
        "minItems": 1,
        "maxItems": "=mcpLocalTools",
        "items": {"type": "object"},
        "description": "For `mcp_local`: the server's tools, as MCP lists them."
      }
    }
  },
  "ToolResult": {
    "type": "object",
    "required": ["toolUseId"],
    "description": "The answer to a tool call: give either `result` or `error`.",
    "example": {"toolUseId": "tu_0", "result": "Sunny."},
    "properties": {
      "toolUseId": {"type": "string"},
      "result": {"type": "string"},
      "error": {"type": "string", "description": "What went wrong, for the model."},
      "fatal": {
        "type": "boolean",
        "default": false,
        "description": "Ends the run; with `error` only."
      },
      "files": {
        "type": "array",
        "maxItems": "=files",
        "items": {"$ref": "#/components/schemas/ResultFile"}
      },
      "claimId": {"type": "string", "description": "The id of the claim that the sender holds."}
    }
  },
  "ResultFile": {
    "type": "object",
    "required": ["filename", "mimeType", "data"],
    "properties": {
      "filename": {"type": "string"},
      "mimeType": {"type": "string"},
      "data": {"type": "string", "contentEncoding": "base64"}
    }
  },
  "ToolCall": {
    "type": "object",
    "description": "A tool call that waits for a client.",
    "required": [
      "id", "toolUseId", "runId", "name", "status", "createdAt", "expiresAt", "args", "kind"
    ],
    "properties": {
      "id": {"type": "string"},
      "toolUseId": {"type": "string"},
      "runId": {"type": "string"},
      "name": {"type": "string"},
      "status": {"type": "string", "enum": ["pending", "claimed"]},
      "createdAt": {"type": "string", "format": "date-time"},
      "expiresAt": {"type": "string", "format": "date-time"},
      "args": {"type": "object"},
      "kind": {"type": "string", "enum": ["local", "a2a_local", "mcp_local"]},
      "agentCard": {"type": "object", "description": "For `a2a_local`, as it was sent."},
      "mcpServer": {"type": "string", "description": "For `mcp_local`: the name of the server."},
      "mcpToolName": {"type": "string", "description": "For `mcp_local`: as the server calls it."},
      "mcpServerInfo": {"type": "object", "description": "For `mcp_local`, as it was sent."},
      "annotations": {"type": "object", "description": "For `mcp_local`, as they were sent."},
      "claimedUntil": {"type": "string", "format": "date-time"}
    }
  },
  "ToolCallList": {
    "type": "object",
    "required": ["toolCalls", "nextCursor"],
    "properties": {
      "toolCalls": {"type": "array", "items": {"$ref": "#/components/schemas/ToolCall"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  },
  "ClaimRequest": {
    "type": "object",
    "additionalProperties": false,
    "example": {"ttlMs": 60000},
    "properties": {
      "ttlMs": {"type": "integer", "minimum": 1, "maximum": "=claimMillisMax", "default": 60000}
    }
  },
  "ExtendRequest": {
    "type": "object",
    "additionalProperties": false,
    "required": ["claimId"],
    "example": {"claimId": "claim_0", "ttlMs": 60000},
    "properties": {
      "claimId": {"type": "string"},
      "ttlMs": {"type": "integer", "minimum": 1, "maximum": "=claimMillisMax", "default": 60000}
    }
  },
  "Claim": {
    "allOf": [{"$ref": "#/components/schemas/ToolCall"}],
    "type": "object",
    "required": ["claimId", "serverTime"],
    "properties": {
      "claimId": {"type": "string"},
      "serverTime": {"type": "string", "format": "date-time", "description": "The server's clock."}
    }
  },
  "ProgressReport": {
    "type": "object",
    "additionalProperties": false,
    "description": "The progress of a tool call: `message`, `progress` or both.",
    "example": {"message": "Half of it.", "progress": 1, "total": 2},
    "properties": {
      "message": {"type": "string"},
      "progress": {"type": "number"},
      "total": {"type": "number"}
    }
  }
})json";

}  // namespace

std::string_view call_schemas() {
  return kCallSchemas;
}

}  // namespace errand::server

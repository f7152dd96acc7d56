// Schemas of secrets, agents and stored tools.
#include "server/openapi/schemas.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kRecordSchemas = R"json({
  "SecretRequest": {
    "type": "object",
    "additionalProperties": false,
    "required": ["name", "value"],
    "example": {"name": "CRM_TOKEN", "value": "a-token-of-the-crm"},
    "properties": {
      "name": {"$ref": "#/components/schemas/SecretName"},
      "value": {"$ref": "#/components/schemas/SecretText"}
    }
  },
  "SecretName": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
  "SecretText": {
    "type": "string",
    "writeOnly": true,
    "maxLength": "=secretBytes",
    "description": "At least 4 bytes, because tools' results are searched for it. Never shown."
  },
  "SecretValue": {
    "type": "object",
    "additionalProperties": false,
    "required": ["value"],
    "example": {"value": "another-token-of-the-crm"},
    "properties": {
      "name": {
        "$ref": "#/components/schemas/SecretName",
        "description": "The name in the path, if given."
      },
      "value": {"$ref": "#/components/schemas/SecretText"}
    }
  },
  "Secret": {
    "type": "object",
    "required": ["id", "name", "version", "createdAt", "updatedAt"],
    "properties": {
      "id": {"type": "string"},
      "name": {"type": "string"},
      "version": {"$ref": "#/components/schemas/Version"},
      "createdAt": {"type": "string", "format": "date-time"},
      "updatedAt": {"type": "string", "format": "date-time"}
    }
  },
  "Version": {
    "type": "integer",
    "minimum": 1,
    "description": "Grows by one with each change; also the answer's `ETag`."
  },
  "SecretList": {
    "type": "object",
    "required": ["secrets", "nextCursor"],
    "properties": {
      "secrets": {"type": "array", "items": {"$ref": "#/components/schemas/Secret"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  },
  "AgentRequest": {
    "type": "object",
    "additionalProperties": false,
    "description": [
      "The members that runs of the agent have unless they say otherwise; the agent's",
      "`systemPrompt` counts even then."
    ],
    "example": {"name": "support", "systemPrompt": "You answer customers. Be brief and kind."},
    "properties": {
      "name": {
        "type": "string",
        "pattern": "^[A-Za-z0-9._-]{1,64}$",
        "description": "Unique in the workspace. Required unless the path has it."
      },
      "description": {
        "type": "string",
        "maxLength": "=agentDescriptionChars",
        "description": "For people."
      },
      "systemPrompt": {"type": "string"},
      "modelId": {"type": "string"},
      "fallbackModelId": {"type": "string"},
      "tools": {
        "type": "array",
        "maxItems": "=tools",
        "items": {"$ref": "#/components/schemas/Tool"},
        "description": "A tool of a run replaces the agent's tool with the same name."
      },
      "metadata": {"$ref": "#/components/schemas/Metadata"},
      "room": {"$ref": "#/components/schemas/RunRoom"},
      "requiredToolkits": {"$ref": "#/components/schemas/RequiredToolkits"},
      "budgets": {"$ref": "#/components/schemas/Budgets"},
      "loopDetection": {"$ref": "#/components/schemas/LoopDetection"},
      "toolBudgets": {"$ref": "#/components/schemas/ToolBudgets"},
      "reasoningLevel": {"$ref": "#/components/schemas/ReasoningLevel"},
      "outputSchema": {"$ref": "#/components/schemas/OutputSchema"},
      "retainTools": {"type": "string", "enum": ["marked", "all"], "default": "marked"},
      "id": {"type": "string", "description": "Set by the server; ignored here."},
      "version": {"type": "integer", "description": "Set by the server; ignored here."},
      "createdAt": {"type": "string", "description": "Set by the server; ignored here."},
      "updatedAt": {"type": "string", "description": "Set by the server; ignored here."}
    }
  },
  "Agent": {
    "type": "object",
    "required": ["id", "name", "version", "createdAt", "updatedAt"],
    "description": "The members of `AgentRequest`, too. Values of headers are redacted.",
    "properties": {
      "id": {"type": "string"},
      "name": {"type": "string"},
      "version": {"$ref": "#/components/schemas/Version"},
      "createdAt": {"type": "string", "format": "date-time"},
      "updatedAt": {
        "type": "string",
        "format": "date-time",
        "description": "When this version was stored."
      }
    }
  },
  "AgentList": {
    "type": "object",
    "required": ["agents", "nextCursor"],
    "properties": {
      "agents": {"type": "array", "items": {"$ref": "#/components/schemas/Agent"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  },
  "AgentVersions": {
    "type": "object",
    "required": ["versions", "nextCursor"],
    "properties": {
      "versions": {"type": "array", "items": {"$ref": "#/components/schemas/Agent"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  },
  "HttpToolRequest": {
    "type": "object",
    "additionalProperties": false,
    "required": ["http"],
    "description": [
      "A request that the server makes when the model calls the tool. Texts may have the",
      "placeholders `{{args.NAME}}` and `{{secret:NAME}}`."
    ],
    "example": {
      "name": "find_order",
      "description": "Finds an order.",
      "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
      "http": {"url": "https://shop.example.com/orders/{{args.id}}"}
    },
    "properties": {
      "name": {
        "type": "string",
        "pattern": "^[A-Za-z0-9_]{1,64}$",
        "description": "Unique in the workspace. Required unless the path has it."
      },
      "description": {
        "type": "string",
        "maxLength": "=toolDescriptionChars",
        "description": "For the model."
      },
      "parameters": {
        "type": "object",
        "description": "A JSON Schema of the arguments, with `\"type\": \"object\"`."
      },
      "http": {"$ref": "#/components/schemas/HttpToolCall"},
      "annotations": {
        "type": "object",
        "additionalProperties": false,
        "description": "By default, `GET` and `HEAD` are read-only and idempotent.",
        "properties": {
          "readOnly": {"type": "boolean"},
          "idempotent": {"type": "boolean"},
          "parallelSafe": {"type": "boolean", "default": true},
          "longRunning": {"type": "boolean", "default": false},
          "destructive": {"type": "boolean", "default": false}
        }
      },
      "timeoutMs": {
        "type": "integer",
        "minimum": 1,
        "maximum": "=httpToolMillis",
        "default": 30000
      },
      "id": {"type": "string", "description": "Set by the server; ignored here."},
      "version": {"type": "integer", "description": "Set by the server; ignored here."},
      "createdAt": {"type": "string", "description": "Set by the server; ignored here."},
      "updatedAt": {"type": "string", "description": "Set by the server; ignored here."}
    }
  },
  "HttpToolCall": {
    "type": "object",
    "additionalProperties": false,
    "required": ["url"],
    "properties": {
      "method": {
        "type": "string",
        "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
        "default": "GET"
      },
      "url": {"type": "string", "description": "The host has no placeholders."},
      "headers": {
        "type": "object",
        "maxProperties": "=httpToolPairs",
        "additionalProperties": {"type": "string"},
        "description": "Answers show a value only if it names secrets or cannot be one."
      },
      "query": {
        "type": "object",
        "maxProperties": "=httpToolPairs",
        "additionalProperties": {"type": "string"},
        "description": "A parameter whose argument is missing is left out."
      },
      "body": {
        "description": "JSON or a text. A string that is only a placeholder keeps its type."
      },
      "result": {
        "type": "string",
        "description": "A JSON pointer to the part of the answer that is the result (default: all)."
      }
    }
  },
  "HttpTool": {
    "type": "object",
    "required": ["id", "name", "version", "createdAt", "updatedAt", "http"],
    "description": "The members of `HttpToolRequest`, too.",
    "properties": {
      "id": {"type": "string"},
      "name": {"type": "string"},
      "version": {"$ref": "#/components/schemas/Version"},
      "createdAt": {"type": "string", "format": "date-time"},
      "updatedAt": {
        "type": "string",
        "format": "date-time",
        "description": "When this version was stored."
      },
      "http": {"$ref": "#/components/schemas/HttpToolCall"}
    }
  },
  "HttpToolList": {
    "type": "object",
    "required": ["tools", "nextCursor"],
    "properties": {
      "tools": {"type": "array", "items": {"$ref": "#/components/schemas/HttpTool"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  },
  "OfferedTools": {
    "type": "object",
    "required": ["tools", "unreachable"],
    "properties": {
      "tools": {
        "type": "array",
        "items": {
          "type": "object",
          "required": ["name", "source"],
          "properties": {
            "name": {"type": "string"},
            "description": {"type": "string"},
            "source": {
              "type": "string",
              "description": "`errand`: built in; `http`: stored; `mcp`: of a server; `program`."
            },
            "server": {"type": "string", "description": "The MCP server in the configuration."},
            "id": {
              "type": "string",
              "description": "For a stored tool, like all members that follow."
            },
            "version": {"$ref": "#/components/schemas/Version"},
            "method": {"type": "string"},
            "url": {"type": "string"}
          }
        }
      },
      "unreachable": {
        "type": "array",
        "items": {
          "type": "object",
          "required": ["source", "server", "error"],
          "properties": {
            "source": {"type": "string"},
            "server": {"type": "string"},
            "error": {"type": "string", "description": "For people."}
          }
        }
      }
    }
  },
  "HttpToolVersions": {
    "type": "object",
    "required": ["versions", "nextCursor"],
    "properties": {
      "versions": {"type": "array", "items": {"$ref": "#/components/schemas/HttpTool"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  },
  "ToolTest": {
    "type": "object",
    "additionalProperties": false,
    "example": {"arguments": {"id": "7"}},
    "properties": {"arguments": {"type": "object", "description": "By default, there are none."}}
  },
  "ToolTestResult": {
    "type": "object",
    "required": ["ok", "result"],
    "properties": {
      "ok": {"type": "boolean"},
      "result": {"type": "string", "description": "What the model would see."}
    }
  }
})json";

}  // namespace

std::string_view record_schemas() {
  return kRecordSchemas;
}

}  // namespace errand::server

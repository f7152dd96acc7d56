// Schemas of models, keys, errors, and the server itself.
#include "server/openapi/schemas.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kServerSchemas = R"json({
  "Error": {
    "type": "object",
    "required": ["error", "code", "message"],
    "description": "The body of every answer that is not a success.",
    "properties": {
      "error": {
        "type": "string",
        "description": "The code again; for errors of credentials, a sentence."
      },
      "code": {"type": "string", "description": "For programs."},
      "message": {"type": "string", "description": "For people."},
      "hint": {"type": "string", "description": "What to do about it."},
      "candidates": {
        "type": "array",
        "items": {"type": "string"},
        "description": "What would have been right."
      },
      "pointer": {
        "type": "string",
        "description": "Where the mistake is in the body, as a JSON pointer."
      },
      "limit": {"type": "string", "description": "The limit that was met."},
      "max": {"type": "integer", "description": "The value of that limit."},
      "required": {
        "type": "string",
        "description": "For `insufficient_scope`: the scope that is missing."
      }
    }
  },
  "Model": {
    "type": "object",
    "required": [
      "id", "label", "provider", "vendorModelId", "source", "contextWindowTokens", "pricing"
    ],
    "properties": {
      "id": {"type": "string"},
      "label": {"type": "string"},
      "provider": {"type": "string"},
      "vendorModelId": {"type": "string"},
      "source": {"type": "string"},
      "contextWindowTokens": {"type": ["integer", "null"]},
      "pricing": {
        "oneOf": [
          {"type": "null"},
          {
            "type": "object",
            "properties": {
              "inputPer1MUsd": {"type": ["number", "null"]},
              "outputPer1MUsd": {"type": ["number", "null"]},
              "cacheReadPer1MUsd": {"type": ["number", "null"]}
            }
          }
        ]
      },
      "status": {
        "type": "string",
        "enum": ["reachable", "wrong_key", "no_such_model", "unreachable"],
        "description": "With `check=true`."
      },
      "statusMessage": {"type": ["string", "null"]}
    }
  },
  "ModelList": {
    "type": "object",
    "required": ["models", "defaultModelId"],
    "properties": {
      "models": {"type": "array", "items": {"$ref": "#/components/schemas/Model"}},
      "defaultModelId": {"type": ["string", "null"]}
    }
  },
  "KeyRequest": {
    "type": "object",
    "additionalProperties": false,
    "description": [
      "A key gets no more rights than the credential that creates it: what is left out is taken",
      "over from that credential."
    ],
    "example": {"name": "ci", "scopes": ["runs:read", "runs:write"], "ttlMs": 2592000000},
    "properties": {
      "name": {"type": "string", "maxLength": "=keyNameChars", "description": "A name for people."},
      "scopes": {
        "type": "array",
        "maxItems": "=keyScopes",
        "items": {"type": "string"},
        "description": "What the key may do (default: everything). Each endpoint names its scope."
      },
      "agents": {
        "type": "array",
        "maxItems": "=keyAgents",
        "items": {"type": "string", "minLength": 1, "maxLength": "=agentNameChars"},
        "description": "Ids or names of the agents that the key may run (default: all)."
      },
      "ttlMs": {
        "type": "integer",
        "minimum": 1,
        "maximum": "=keyMillis",
        "description": "How long the key is valid (default: until it is revoked)."
      }
    }
  },
  "Key": {
    "type": "object",
    "required": [
      "id", "name", "prefix", "createdAt", "scopes", "agents", "expiresAt", "lastUsedAt",
      "revokedAt"
    ],
    "properties": {
      "id": {"type": "string"},
      "name": {"type": "string"},
      "prefix": {"type": "string", "description": "The beginning of the key."},
      "createdAt": {"type": "string", "format": "date-time"},
      "scopes": {
        "type": ["array", "null"],
        "items": {"type": "string"},
        "description": "null: everything."
      },
      "agents": {
        "type": ["array", "null"],
        "items": {"type": "string"},
        "description": "null: all agents."
      },
      "expiresAt": {"type": ["string", "null"], "format": "date-time"},
      "lastUsedAt": {
        "type": ["string", "null"],
        "format": "date-time",
        "description": "Exact within half a minute after a restart."
      },
      "revokedAt": {"type": ["string", "null"], "format": "date-time"},
      "usage": {
        "$ref": "#/components/schemas/KeyUsage",
        "description": "Left out while no run of the key has ended."
      }
    }
  },
  "KeyUsage": {
    "type": "object",
    "required": ["runs", "inputTokens", "outputTokens", "unpricedRuns"],
    "properties": {
      "runs": {"type": "integer", "minimum": 0, "description": "Runs of the key that have ended."},
      "inputTokens": {"type": "integer", "minimum": 0},
      "outputTokens": {"type": "integer", "minimum": 0},
      "costUsd": {
        "type": "number",
        "minimum": 0,
        "description": "For the runs whose prices are known; left out if there are none."
      },
      "unpricedRuns": {
        "type": "integer",
        "minimum": 0,
        "description": "Runs whose cost is unknown."
      }
    }
  },
  "NewKey": {
    "allOf": [{"$ref": "#/components/schemas/Key"}],
    "type": "object",
    "required": ["apiKey"],
    "properties": {
      "apiKey": {"type": "string", "description": "The key itself, which is shown this once."}
    }
  },
  "KeyList": {
    "type": "object",
    "required": ["apiKeys", "nextCursor"],
    "properties": {
      "apiKeys": {"type": "array", "items": {"$ref": "#/components/schemas/Key"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  },
  "Health": {
    "type": "object",
    "required": ["status", "version"],
    "properties": {"status": {"const": "ok"}, "version": {"type": "string"}}
  },
  "Readiness": {
    "type": "object",
    "required": ["status"],
    "properties": {
      "status": {"const": "ready"},
      "heldBack": {
        "type": "integer",
        "description": "Runs that may have brought a process down and are resumed a few at a time."
      }
    }
  },
  "Metrics": {"type": "string", "description": "Prometheus text."},
  "OpenApi": {"type": "object", "description": "This document."},
  "WorkspaceRequest": {
    "type": "object",
    "additionalProperties": false,
    "required": ["slug"],
    "example": {"slug": "acme-team", "name": "Acme Inc."},
    "properties": {
      "slug": {
        "type": "string",
        "pattern": "^[A-Za-z0-9_-]{1,39}$",
        "description": "Name in URLs."
      },
      "name": {"type": "string", "maxLength": "=keyNameChars", "description": "A name for people."}
    }
  },
  "Workspace": {
    "type": "object",
    "required": ["slug", "name"],
    "properties": {"slug": {"type": "string"}, "name": {"type": "string"}}
  },
  "NewWorkspace": {
    "allOf": [{"$ref": "#/components/schemas/Workspace"}],
    "type": "object",
    "required": ["apiKey"],
    "properties": {
      "apiKey": {
        "$ref": "#/components/schemas/NewKey",
        "description": "The first key of the workspace, with which its owners create others."
      }
    }
  },
  "WorkspaceList": {
    "type": "object",
    "required": ["workspaces", "nextCursor"],
    "properties": {
      "workspaces": {"type": "array", "items": {"$ref": "#/components/schemas/Workspace"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  }
})json";

}  // namespace

std::string_view server_schemas() {
  return kServerSchemas;
}

}  // namespace errand::server

// Schemas of runs.
#include "server/openapi/schemas.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kRunSchemas = R"json({
  "RunRequest": {
    "type": "object",
    "description": [
      "A run: give either `prompt` or `messages`. Members that the server does not know are",
      "ignored."
    ],
    "example": {
      "prompt": "What is in a.txt?",
      "tools": [
        {
          "kind": "local",
          "name": "read_file",
          "description": "Reads a file.",
          "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}
        }
      ]
    },
    "properties": {
      "prompt": {"type": "string", "description": "What the user says."},
      "messages": {
        "type": "array",
        "minItems": 1,
        "maxItems": "=messages",
        "items": {"$ref": "#/components/schemas/Message"},
        "description": [
          "A conversation instead of a prompt. Its last message, system messages aside, is the",
          "user's."
        ]
      },
      "agentId": {
        "type": "string",
        "description": "The id or the name of a stored agent that carries out the run."
      },
      "systemPrompt": {"type": "string"},
      "modelId": {
        "type": "string",
        "description": "A model of `GET .../models` (default: the server's default model)."
      },
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
      "name": {"type": "string", "maxLength": "=nameChars", "description": "A name for people."},
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
      "attachments": {
        "type": "array",
        "maxItems": 0,
        "description": "Files belong to the last of the `messages`."
      },
      "plan": {"$ref": "#/components/schemas/Plan"},
      "supervisor": {"$ref": "#/components/schemas/Supervisor"}
    }
  },
  "Plan": {
    "description": "Ignored, but an object with `planOnly` is refused.",
    "properties": {"planOnly": {"enum": [false, null]}}
  },
  "Supervisor": {"description": "Ignored."},
  "Message": {
    "type": "object",
    "required": ["role", "content"],
    "properties": {
      "role": {"type": "string", "enum": ["user", "assistant", "system"]},
      "content": {"type": "string", "maxLength": "=messageChars"},
      "attachments": {
        "type": "array",
        "maxItems": "=files",
        "items": {"$ref": "#/components/schemas/Attachment"},
        "description": "Only the last message of the user has attachments."
      }
    }
  },
  "Attachment": {
    "type": "object",
    "required": ["type"],
    "description": "A file with its bytes, or the address of one. Answers leave `data` out.",
    "properties": {
      "type": {"type": "string", "enum": ["input_file", "input_file_url"]},
      "filename": {"type": "string"},
      "mimeType": {"type": "string"},
      "data": {
        "type": "string",
        "contentEncoding": "base64",
        "description": "For `input_file`: the bytes."
      },
      "url": {
        "type": "string",
        "maxLength": "=fileUrlBytes",
        "description": "For `input_file_url`."
      },
      "size": {"type": "integer", "minimum": 0, "readOnly": true}
    }
  },
  "Metadata": {
    "type": "object",
    "maxProperties": "=metadataEntries",
    "description": "The caller's own labels for a run, by which lists can be filtered.",
    "propertyNames": {"pattern": "^[A-Za-z0-9._-]{1,64}$"},
    "additionalProperties": {"type": "string", "maxLength": "=metadataValueChars"}
  },
  "Budgets": {
    "type": "object",
    "properties": {
      "maxToolTurns": {
        "type": "integer",
        "minimum": 0,
        "maximum": 1000,
        "description": "The number of turns in which the model may call tools."
      },
      "maxToolTurnsExceeded": {"type": "string", "enum": ["error", "finalize"], "default": "error"},
      "localToolTimeoutMs": {
        "type": "integer",
        "minimum": 1,
        "maximum": 86400000,
        "description": "How long a call waits for the client."
      },
      "onLocalToolTimeout": {"type": "string", "enum": ["fail", "continue"], "default": "fail"}
    }
  },
  "LoopDetection": {
    "description": "`false` turns the guard against repeated tool calls off.",
    "oneOf": [
      {"const": false},
      {
        "type": "object",
        "properties": {
          "consecutiveThreshold": {"type": "integer", "minimum": 2, "maximum": "=loopThreshold"},
          "hardCutoffThreshold": {"type": "integer", "minimum": 3, "maximum": "=loopThreshold"}
        }
      }
    ]
  },
  "ToolBudgets": {
    "type": "object",
    "maxProperties": "=toolBudgets",
    "description": "How often each tool may be called, by the tool's name.",
    "additionalProperties": {
      "type": "object",
      "required": ["maxCalls"],
      "properties": {"maxCalls": {"type": "integer", "minimum": 0, "maximum": "=toolBudget"}}
    }
  },
  "ReasoningLevel": {
    "description": "How much the model thinks: a word, or a number of which 0 is off.",
    "oneOf": [
      {"type": "string", "enum": ["off", "low", "medium", "high"]},
      {"type": "integer", "minimum": 0, "maximum": "=reasoningLevel"}
    ]
  },
  "OutputSchema": {
    "type": "object",
    "required": ["schema"],
    "description": "The answer is JSON that fits this schema.",
    "properties": {
      "name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$", "default": "output"},
      "schema": {"type": "object"},
      "enforcement": {
        "type": "string",
        "enum": ["best_effort", "strict"],
        "default": "best_effort"
      }
    }
  },
  "RunCreated": {
    "type": "object",
    "required": ["runId", "streamUrl"],
    "properties": {
      "runId": {"type": "string"},
      "streamUrl": {"type": "string"},
      "sessionId": {"type": "string", "description": "For a session's run."},
      "warnings": {"$ref": "#/components/schemas/Warnings"}
    }
  },
  "Warnings": {
    "type": "array",
    "items": {"type": "string"},
    "description": "Members of the request that have no effect here, if there are any."
  },
  "RunStatus": {
    "type": "string",
    "enum": ["queued", "running", "succeeded", "failed", "cancelled"]
  },
  "RunListItem": {
    "type": "object",
    "required": [
      "id", "runId", "name", "status", "modelId", "createdAt", "updatedAt", "lastSeq", "metadata"
    ],
    "properties": {
      "id": {"type": "string"},
      "runId": {"type": "string"},
      "name": {"type": "string"},
      "status": {"$ref": "#/components/schemas/RunStatus"},
      "modelId": {"type": "string"},
      "createdAt": {"type": "string", "format": "date-time"},
      "updatedAt": {"type": "string", "format": "date-time"},
      "lastSeq": {"type": "integer", "minimum": 0, "description": "The number of the last event."},
      "sessionId": {"type": "string", "description": "For a session's run."},
      "agentId": {"type": "string", "description": "For an agent's run: the id of the agent."},
      "parentRunId": {"type": "string", "description": "The run that has called the agent."},
      "metadata": {"$ref": "#/components/schemas/Metadata"},
      "about": {
        "type": "string",
        "description": "The beginning of what the run was asked last; in lists with `about=true`."
      },
      "pendingCalls": {
        "type": "array",
        "items": {"$ref": "#/components/schemas/ToolCall"},
        "description": "Tool calls that wait for a client; in lists with `about=true`."
      }
    }
  },
  "RunList": {
    "type": "object",
    "required": ["runs", "nextCursor"],
    "properties": {
      "runs": {"type": "array", "items": {"$ref": "#/components/schemas/RunListItem"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  },
  "NextCursor": {
    "type": ["string", "null"],
    "description": "Send it as `cursor` for the next page; null on the last page."
  },
  "Run": {
    "allOf": [{"$ref": "#/components/schemas/RunListItem"}],
    "type": "object",
    "required": [
      "finalText", "error", "failureReason", "tokens", "turns", "model", "pendingCalls", "spec"
    ],
    "properties": {
      "finalText": {
        "type": ["string", "null"],
        "description": "What the model said last; null before the end."
      },
      "error": {"type": ["string", "null"]},
      "failureReason": {"type": ["object", "null"]},
      "tokens": {"oneOf": [{"$ref": "#/components/schemas/Tokens"}, {"type": "null"}]},
      "turns": {"type": ["integer", "null"]},
      "model": {"oneOf": [{"$ref": "#/components/schemas/ModelUsed"}, {"type": "null"}]},
      "structuredOutput": {
        "oneOf": [{"$ref": "#/components/schemas/StructuredOutput"}, {"type": "null"}]
      },
      "costUsd": {"$ref": "#/components/schemas/CostUsd"},
      "pendingCalls": {"type": "array", "items": {"$ref": "#/components/schemas/ToolCall"}},
      "spec": {
        "type": "object",
        "description": "The run as it was asked for. Values of headers are redacted."
      },
      "forkedFrom": {"$ref": "#/components/schemas/ForkedFrom"}
    }
  },
  "CostUsd": {
    "type": "number",
    "description": [
      "What the run's own turns have cost, each at the price of the model that answered it, in US",
      "dollars. Absent before the end, and if a price or a number of tokens is unknown."
    ]
  },
  "ForkedFrom": {
    "type": "object",
    "required": ["runId", "seq"],
    "properties": {"runId": {"type": "string"}, "seq": {"type": "integer"}}
  },
  "ForkRequest": {
    "type": "object",
    "additionalProperties": false,
    "description": [
      "Where to fork, and the members of a run that the fork has instead of the original's.",
      "`messages` is not among them."
    ],
    "example": {"fromSeq": 4, "prompt": "Try again."},
    "properties": {
      "fromSeq": {
        "type": "integer",
        "minimum": 0,
        "description": "Rounded down to a finished turn (default: the end)."
      },
      "prompt": {"type": "string"},
      "systemPrompt": {"type": "string"},
      "modelId": {"type": "string"},
      "fallbackModelId": {"type": "string"},
      "name": {"type": "string", "maxLength": "=nameChars"},
      "tools": {
        "type": "array",
        "maxItems": "=tools",
        "items": {"$ref": "#/components/schemas/Tool"}
      },
      "metadata": {"$ref": "#/components/schemas/Metadata"},
      "budgets": {"$ref": "#/components/schemas/Budgets"},
      "loopDetection": {"$ref": "#/components/schemas/LoopDetection"},
      "toolBudgets": {"$ref": "#/components/schemas/ToolBudgets"},
      "reasoningLevel": {"$ref": "#/components/schemas/ReasoningLevel"},
      "outputSchema": {"$ref": "#/components/schemas/OutputSchema"}
    }
  },
  "Fork": {
    "type": "object",
    "required": ["runId", "streamUrl", "forkedFrom"],
    "properties": {
      "runId": {"type": "string"},
      "streamUrl": {"type": "string"},
      "forkedFrom": {"$ref": "#/components/schemas/ForkedFrom"}
    }
  },
  "JournalPage": {
    "type": "object",
    "required": ["entries", "nextCursor"],
    "properties": {
      "entries": {"type": "array", "items": {"type": "object"}},
      "nextCursor": {
        "type": ["string", "null"],
        "description": "Send it as `after` for the next page."
      }
    }
  },
  "Cancelled": {
    "type": "object",
    "required": ["ok", "status"],
    "properties": {
      "ok": {"const": true},
      "status": {
        "$ref": "#/components/schemas/RunStatus",
        "description": "The status with which the run has ended, or will end."
      }
    }
  },
  "FeedbackRequest": {
    "type": "object",
    "required": ["verdict"],
    "example": {"verdict": "UP", "explanation": "Just what I wanted."},
    "properties": {
      "verdict": {"type": "string", "enum": ["UP", "DOWN"]},
      "explanation": {"type": "string", "maxLength": "=explanationChars"},
      "contentSnapshot": {
        "type": "string",
        "maxLength": "=contentChars",
        "description": "What the verdict is about (default: the run's final text)."
      }
    }
  },
  "Feedback": {
    "type": "object",
    "required": ["id", "verdict", "targetKind", "agentRunId"],
    "properties": {
      "id": {"type": "string"},
      "verdict": {"type": "string", "enum": ["UP", "DOWN"]},
      "targetKind": {"const": "agent_run"},
      "agentRunId": {"type": "string"},
      "explanation": {
        "type": "string",
        "description": "Only when the feedback is read, like the members below."
      },
      "contentSnapshot": {"type": "string"},
      "createdAt": {"type": "string", "format": "date-time"},
      "updatedAt": {"type": "string", "format": "date-time"}
    }
  }
})json";

}  // namespace

std::string_view run_schemas() {
  return kRunSchemas;
}

}  // namespace errand::server

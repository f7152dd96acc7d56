// Schemas of A2A messages, as far as JSON-RPC goes: the protocol describes the rest.
#include "server/openapi/schemas.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kProtocolSchemas = R"json({
  "A2aMessage": {
    "type": "object",
    "required": ["jsonrpc", "id", "method"],
    "description": [
      "A JSON-RPC 2.0 request of the Agent2Agent protocol. The method says which version it is:",
      "`SendMessage` is of version 1.0, `message/send` of version 0.3."
    ],
    "example": {
      "jsonrpc": "2.0",
      "id": 1,
      "method": "SendMessage",
      "params": {
        "message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "Hello"}]},
        "configuration": {"returnImmediately": true}
      }
    },
    "properties": {
      "jsonrpc": {"type": "string", "enum": ["2.0"]},
      "id": {"type": ["string", "integer"]},
      "method": {"type": "string"},
      "params": {"type": "object"}
    }
  },
  "A2aAnswer": {
    "type": "object",
    "required": ["jsonrpc", "id"],
    "properties": {
      "jsonrpc": {"type": "string", "enum": ["2.0"]},
      "id": {"type": ["string", "integer", "null"]},
      "result": {"type": "object"},
      "error": {"$ref": "#/components/schemas/JsonRpcError"}
    }
  },
  "JsonRpcError": {
    "type": "object",
    "required": ["code", "message"],
    "properties": {
      "code": {"type": "integer"},
      "message": {"type": "string"},
      "data": {}
    }
  },
  "AgentCard": {
    "type": "object",
    "required": ["name", "description", "version", "url", "supportedInterfaces", "skills"],
    "properties": {
      "name": {"type": "string"},
      "description": {"type": "string"},
      "version": {"type": "string", "description": "The version of the stored agent."},
      "protocolVersion": {"type": "string"},
      "url": {"type": "string", "description": "Where messages go."},
      "preferredTransport": {"type": "string"},
      "supportedInterfaces": {"type": "array", "items": {"type": "object"}},
      "capabilities": {"type": "object"},
      "defaultInputModes": {"type": "array", "items": {"type": "string"}},
      "defaultOutputModes": {"type": "array", "items": {"type": "string"}},
      "skills": {"type": "array", "items": {"type": "object"}},
      "securitySchemes": {"type": "object"},
      "security": {"type": "array", "items": {"type": "object"}},
      "securityRequirements": {"type": "array", "items": {"type": "object"}}
    }
  }
})json";

}  // namespace

std::string_view protocol_schemas() {
  return kProtocolSchemas;
}

}  // namespace errand::server

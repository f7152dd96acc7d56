// Schemas of rooms, tokens and room keys.
#include "server/openapi/schemas.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kRoomSchemas = R"json({
  "RoomRequest": {
    "type": "object",
    "additionalProperties": false,
    "required": ["name"],
    "example": {"name": "support"},
    "properties": {"name": {"$ref": "#/components/schemas/RoomName"}}
  },
  "RunRoom": {
    "description": [
      "The room that the run joins: a room of the workspace by its name, or any other by its URL",
      "and a token for it, which may be `{{secret:NAME}}`."
    ],
    "oneOf": [
      {"$ref": "#/components/schemas/RoomName"},
      {
        "type": "object",
        "required": ["url", "token"],
        "properties": {
          "url": {"type": "string", "pattern": "^(wss?|https?)://", "maxLength": 2048},
          "token": {"type": "string", "minLength": 1, "maxLength": "=roomTokenBytes"}
        }
      }
    ]
  },
  "RequiredToolkits": {
    "type": "array",
    "maxItems": "=requiredToolkits",
    "description": [
      "Toolkits of the room that the run requires; it has no other tools of the room.",
      "If one is missing, the run fails and names it. Without this list, the run has the tools of",
      "all public toolkits that are in the room when it begins."
    ],
    "items": {
      "type": "object",
      "required": ["toolkit"],
      "properties": {
        "toolkit": {"type": "string", "minLength": 1, "maxLength": "=toolkitNameBytes"},
        "tools": {
          "type": "array",
          "minItems": 1,
          "maxItems": "=requiredTools",
          "items": {"type": "string", "minLength": 1, "maxLength": "=toolkitNameBytes"},
          "description": "The tools that are needed (default: all of the toolkit)."
        },
        "participantName": {
          "type": "string",
          "minLength": 1,
          "maxLength": "=toolkitNameBytes",
          "description": "The name of the host (default: any host of the toolkit)."
        },
        "timeoutMs": {
          "type": "integer",
          "minimum": 0,
          "maximum": "=toolkitWaitMillis",
          "default": 10000,
          "description": "How long the run waits for the toolkit before it fails."
        }
      }
    }
  },
  "RoomName": {"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"},
  "Room": {
    "type": "object",
    "required": ["id", "name", "createdAt"],
    "properties": {
      "id": {"type": "string"},
      "name": {"type": "string"},
      "createdAt": {"type": "string", "format": "date-time"},
      "url": {"type": "string", "description": "Where clients join; only for a single room."},
      "participants": {
        "type": "array",
        "description": "The participants; only for a single room.",
        "items": {"$ref": "#/components/schemas/Participant"}
      }
    }
  },
  "Participant": {
    "type": "object",
    "required": ["id", "name", "role", "toolkits"],
    "properties": {
      "id": {"type": "string", "description": "Of this connection."},
      "name": {"type": "string"},
      "role": {"$ref": "#/components/schemas/ParticipantRole"},
      "toolkits": {"type": "array", "items": {"type": "string"}}
    }
  },
  "ParticipantRole": {"type": "string", "enum": ["user", "agent", "tool"]},
  "RoomList": {
    "type": "object",
    "required": ["rooms", "nextCursor"],
    "properties": {
      "rooms": {"type": "array", "items": {"$ref": "#/components/schemas/Room"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  },
  "RoomTokenRequest": {
    "type": "object",
    "additionalProperties": false,
    "required": ["name"],
    "example": {"name": "clerk", "role": "tool", "api": {"agents": {}}},
    "properties": {
      "name": {
        "type": "string",
        "minLength": 1,
        "maxLength": "=keyNameChars",
        "description": "Who joins. Connections with the same name share their toolkits' names."
      },
      "role": {"$ref": "#/components/schemas/ParticipantRole"},
      "api": {
        "type": "object",
        "description": [
          "What the participant may do: an object for each of `agents`, `messaging`, `queues`,",
          "`storage` and `developer` that it may use. Left out: all of these."
        ]
      },
      "ttlMs": {
        "type": "integer",
        "minimum": 1000,
        "maximum": "=keyMillis",
        "description": "How long the token can be used to join. Left out: without limit."
      }
    }
  },
  "RoomToken": {
    "type": "object",
    "required": ["room", "token", "expiresAt"],
    "properties": {
      "room": {"type": "string"},
      "token": {"type": "string", "description": "A JWT."},
      "url": {"type": "string", "description": "Where clients join."},
      "expiresAt": {"type": ["string", "null"], "format": "date-time"}
    }
  },
  "RoomConnectRequest": {
    "type": "object",
    "example": {},
    "properties": {
      "email": {
        "type": ["string", "null"],
        "maxLength": "=keyNameChars",
        "description": "Who connects (default: the name of the key)."
      }
    }
  },
  "RoomConnection": {
    "type": "object",
    "required": ["jwt", "room_name", "project_id", "room_url"],
    "properties": {
      "jwt": {"type": "string", "description": "A participant token."},
      "room_name": {"type": "string"},
      "project_id": {"type": "string", "format": "uuid"},
      "room_url": {"type": "string", "description": "Where clients join."}
    }
  },
  "RoomKeyRequest": {
    "type": "object",
    "additionalProperties": false,
    "example": {"name": "our agents"},
    "properties": {
      "name": {
        "type": "string",
        "maxLength": "=keyNameChars",
        "description": "For people."
      }
    }
  },
  "RoomKey": {
    "type": "object",
    "required": ["id", "name", "createdAt"],
    "properties": {
      "id": {"type": "string", "format": "uuid"},
      "name": {"type": "string"},
      "createdAt": {"type": "string", "format": "date-time"}
    }
  },
  "NewRoomKey": {
    "type": "object",
    "required": ["id", "name", "createdAt", "apiKey"],
    "properties": {
      "id": {"type": "string", "format": "uuid"},
      "name": {"type": "string"},
      "createdAt": {"type": "string", "format": "date-time"},
      "apiKey": {"type": "string", "description": "Begins with `ma-`. Shown only here."}
    }
  },
  "RoomKeyList": {
    "type": "object",
    "required": ["roomKeys", "nextCursor"],
    "properties": {
      "roomKeys": {"type": "array", "items": {"$ref": "#/components/schemas/RoomKey"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  }
})json";

}  // namespace

std::string_view room_schemas() {
  return kRoomSchemas;
}

}  // namespace errand::server

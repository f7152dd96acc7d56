// Schemas of OAuth clients and tokens.
#include "server/openapi/schemas.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kOauthSchemas = R"json({
  "OAuthClientRequest": {
    "type": "object",
    "additionalProperties": false,
    "required": ["scopes"],
    "example": {"name": "portal", "scopes": ["runs:read"]},
    "description": "A client gets no more rights than the credential that creates it.",
    "properties": {
      "name": {"type": "string", "maxLength": "=keyNameChars"},
      "scopes": {
        "type": "array",
        "maxItems": "=keyScopes",
        "items": {"type": "string"},
        "description": "What its tokens may do at most."
      },
      "agents": {
        "type": "array",
        "maxItems": "=keyAgents",
        "items": {"type": "string", "minLength": 1, "maxLength": "=agentNameChars"}
      }
    }
  },
  "OAuthClient": {
    "type": "object",
    "required": ["id", "clientId", "name", "createdAt", "scopes", "agents", "hasRefreshToken"],
    "properties": {
      "id": {"type": "string"},
      "clientId": {"type": "string"},
      "name": {"type": "string"},
      "createdAt": {"type": "string", "format": "date-time"},
      "scopes": {"type": ["array", "null"], "items": {"type": "string"}},
      "agents": {"type": ["array", "null"], "items": {"type": "string"}},
      "hasRefreshToken": {"type": "boolean"}
    }
  },
  "NewOAuthClient": {
    "allOf": [{"$ref": "#/components/schemas/OAuthClient"}],
    "type": "object",
    "required": ["clientSecret", "refreshToken"],
    "properties": {"clientSecret": {"type": "string"}, "refreshToken": {"type": "string"}}
  },
  "OAuthClientList": {
    "type": "object",
    "required": ["oauthClients", "nextCursor"],
    "properties": {
      "oauthClients": {"type": "array", "items": {"$ref": "#/components/schemas/OAuthClient"}},
      "nextCursor": {"$ref": "#/components/schemas/NextCursor"}
    }
  },
  "TokenRequest": {
    "type": "object",
    "required": ["grant_type"],
    "description": "The client may also authenticate by HTTP Basic.",
    "properties": {
      "grant_type": {"type": "string", "enum": ["refresh_token", "client_credentials"]},
      "refresh_token": {"type": "string"},
      "scope": {
        "type": "string",
        "description": "Scopes with spaces between them (default: all of the client's)."
      },
      "client_id": {"type": "string"},
      "client_secret": {"type": "string"}
    }
  },
  "TokenAnswer": {
    "type": "object",
    "required": ["access_token", "token_type", "expires_in", "scope"],
    "properties": {
      "access_token": {"type": "string"},
      "token_type": {"const": "Bearer"},
      "expires_in": {"type": "integer", "description": "Seconds."},
      "refresh_token": {"type": "string", "description": "The refresh token that was sent."},
      "scope": {"type": "string"}
    }
  },
  "RevokeRequest": {
    "type": "object",
    "required": ["token"],
    "properties": {
      "token": {"type": "string"},
      "client_id": {"type": "string"},
      "client_secret": {"type": "string"}
    }
  },
  "OAuthError": {
    "type": "object",
    "required": ["error", "error_description"],
    "properties": {"error": {"type": "string"}, "error_description": {"type": "string"}}
  },
  "UserInfo": {
    "type": "object",
    "required": ["sub", "email", "workspace"],
    "properties": {
      "sub": {"type": "string", "description": "The id of the key or client."},
      "email": {"type": ["string", "null"]},
      "workspace": {
        "type": "object",
        "required": ["id", "slug", "name"],
        "properties": {
          "id": {"type": "string"},
          "slug": {"type": "string"},
          "name": {"type": "string"}
        }
      }
    }
  },
  "Empty": {"type": "object"}
})json";

}  // namespace

std::string_view oauth_schemas() {
  return kOauthSchemas;
}

}  // namespace errand::server

#pragma once

#include <string>
#include <string_view>

// Knows none of the public types, whose names would clash with the internal ones of the validator.
namespace shop {

// Why a schema is none of draft 2020-12, by the official metaschema; empty if it is one.
std::string metaschema_errors(std::string_view schema);

// Why a value does not fit a schema; empty if it fits.
std::string schema_errors(std::string_view schema, std::string_view value);

}  // namespace shop

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "net/client/http_client.hpp"

// Services that search the web: how each is asked, and what it answers. Pure functions.
namespace errand {

enum class SearchProvider { exa, brave, tavily };
std::string_view to_string(SearchProvider provider);
// "exa", "brave" or "tavily".
std::optional<SearchProvider> parse_search_provider(std::string_view word);

struct SearchService {
  SearchProvider provider = SearchProvider::exa;
  std::string key;
  std::string base_url = {};  // empty: the provider's own

  friend bool operator==(const SearchService&, const SearchService&) = default;
};

// The first service whose key is in the environment: EXA_API_KEY, BRAVE_API_KEY or TAVILY_API_KEY.
// EXA_BASE_URL and the like name another address.
std::optional<SearchService> search_service_in(const net::Environment& environment);

struct SearchHit {
  std::string title;
  std::string url;
  std::string snippet;

  friend bool operator==(const SearchHit&, const SearchHit&) = default;
};

net::ClientRequest search_request(const SearchService& service, std::string_view query, int count);
// unavailable: the body is not an answer of the service.
Result<std::vector<SearchHit>> parse_hits(SearchProvider provider, std::string_view body);

}  // namespace errand

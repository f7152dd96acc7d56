// The server that the official MCP conformance suite wants to find, on <errand/mcp.hpp> and over
// HTTP. Prints its port and serves until its standard input ends.

#include <iostream>
#include <string>

#include "fixture.hpp"

int main() {
  errand::mcp::HttpServing serving = conformance_server().serve_http();
  std::cout << serving.port() << std::endl;
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  serving.stop();
  return 0;
}

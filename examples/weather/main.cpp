// A first tool: the model asks for the weather, and this program answers.

#include <errand/errand.hpp>

#include <iostream>
#include <string>

struct Weather {
  std::string city;
  int days = 1;
};
ERRAND_DESCRIBE(Weather, (city, "City to look up"), (days, "Days ahead", errand::range(1, 14)))

int main() {
  auto weather = errand::tool(
      "get_weather", "Weather forecast for a city.",
      [](const Weather& args) { return args.city + ": 31 degrees, rain in the afternoon"; },
      {.read_only = true});
  errand::Client client;  // finds its server as the commands do
  auto reply = client.run({.prompt = "What is the weather in Lagos?", .tools = {weather}});
  std::cout << reply.text << "\n";
}

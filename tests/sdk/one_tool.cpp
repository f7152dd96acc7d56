// The smallest program with a tool: what it costs a compiler is measured.

#include <errand/errand.hpp>

#include <iostream>

struct Weather {
  std::string city;
  int days = 1;
};

int main() {
  auto weather =
      errand::tool("get_weather", "Weather forecast for a city.", [](const Weather& args) {
        return args.city + ": sun for " + std::to_string(args.days) + " days";
      });
  std::cout << weather.input_schema().dump() << "\n";
}

// Two participants of a room: one hosts a toolkit and keeps a file, the other calls and reads.
//
//   errand rooms create lab
//   room "$URL" "$(errand rooms token lab --name shop)" "$(errand rooms token lab --name ann)"
#include <iostream>

#include <errand/errand.hpp>

struct Order {
  int id = 0;
};

struct Status {
  std::string state;
  int days = 0;
};

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::cerr << "usage: room URL HOST_TOKEN CALLER_TOKEN\n";
    return 2;
  }
  errand::Toolkit orders(
      {.name = "orders",
       .rules = {"Look an order up before you talk about it."},
       .tools = {errand::tool("status", "The state of an order.",
                              [](const Order& order) { return Status{"on its way", order.id % 5}; },
                              {.read_only = true})}});

  errand::Room shop = errand::Room::join({.url = argv[1], .token = argv[2]});
  errand::HostedToolkit hosted = shop.host(orders);

  errand::Room ann = errand::Room::join({.url = argv[1], .token = argv[3]});
  for (const errand::RoomToolkitInfo& toolkit : ann.toolkits()) {
    std::cout << toolkit.name << ": " << toolkit.tools.size() << " tool\n";
  }
  auto status = ann.call_for<Status>("orders", "status", errand::to_json(Order{7}));
  std::cout << status.state << ", " << status.days << " days\n";

  // Files of the room outlive its participants.
  shop.storage().upload("receipts/7.txt", "Thank you, Ann.\n", {.overwrite = true});
  std::cout << ann.storage().download("receipts/7.txt").bytes;

  hosted.stop();
  std::cout << ann.toolkits().size() << " toolkits are left\n";
} catch (const errand::Error& error) {
  std::cerr << error.describe() << "\n";
  return 1;
}

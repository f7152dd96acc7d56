#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "mcp/client/client_features.hpp"

namespace errand::mcp {

// What a client offers to its server: folders, and whatever the calls answer that it makes
// (CallFeatures). A server that asks while no such call is under way gets an error.
class OfferedFeatures final : public ClientFeatures {
 public:
  // Folders are offered if there are any, whatever `calls` says of them.
  OfferedFeatures(std::vector<Root> roots, ClientCapabilities calls);

  ClientCapabilities offered() const override { return offered_; }
  Task<Result<std::vector<Root>>> roots() override;
  Task<Result<CreateMessageResult>> create_message(CreateMessageParams params) override;
  Task<Result<ElicitResult>> elicit(ElicitParams params) override;

 private:
  const std::vector<Root> roots_;
  const ClientCapabilities offered_;
};

// A folder in the form that servers get. The path is absolute.
Root root_of(const std::filesystem::path& folder);

}  // namespace errand::mcp

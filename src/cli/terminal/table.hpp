#pragma once

#include <string>
#include <vector>

namespace errand::cli {

using Row = std::vector<std::string>;

// Plain text in aligned columns, the first row being the heading. Cells are made safe to show; an
// empty one is shown as "-", so that every row has as many words as columns hold no spaces.
std::string render_table(const std::vector<Row>& rows);

}  // namespace errand::cli

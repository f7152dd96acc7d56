#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace errand::cli {

using Row = std::vector<std::string>;

// How a table may look.
struct TableLook {
  std::size_t columns_max = 0;  // of a line; 0: there is no limit
  bool has_colour = false;
};

// The look of a table on stdout.
TableLook table_look_here();

// Whether a table with many columns should leave out those that matter least.
bool is_narrow(const TableLook& look);

// Plain text in aligned columns, the first row being the heading. Cells are made safe to show; an
// empty one is shown as "-", so that every row has as many words as columns hold no spaces. Where
// lines are too short, cells are cut, and on a very narrow terminal each row becomes a block of
// lines; the first column, which holds what commands are given, is never cut. Statuses have their
// colour.
std::string render_table(const std::vector<Row>& rows, TableLook look = table_look_here());

}  // namespace errand::cli

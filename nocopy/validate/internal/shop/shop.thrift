// An order with rules for its values.
namespace go shop

struct Line {
  1: string article (vt.min_size = "1")
  2: i32 count (vt.gt = "0")
}

struct Order {
  1: required string id (vt.pattern = "^[A-Z]{2}-[0-9]+$")
  2: list<Line> lines (vt.min_size = "1", vt.max_size = "100")
  3: map<string, string> labels (vt.key.min_size = "1", vt.value.max_size = "20")
}

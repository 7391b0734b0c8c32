// Types for the tests of nocopyjson: what JSON makes a difference of.
namespace go shop

enum Color {
  RED = 1,
  GREEN = 2,
  LIME = 2
}

struct Point {
  1: required i32 x
  2: i32 y
}

union Part {
  1: string name
  2: Point at
  3: list<Part> parts
}

exception Refused {
  1: string reason (go.tag = 'json:"reason_text,omitempty"')
  2: Color color
}

struct Item {
  1: bool flag
  2: i8 tiny
  3: i16 small
  4: i32 medium
  5: i64 large
  6: double real
  7: string text
  8: binary blob
  9: uuid key
  10: Color color
  11: optional Point point
  12: optional Part part
  13: list<i64> numbers
  14: set<string> words
  15: map<string, i64> counts
  16: map<Color, Point> places
  17: map<bool, list<string>> choices
  18: map<double, i32> weights
  19: map<binary, uuid> digests
  20: map<Point, string> names
  21: map<list<i32>, i32> paths
  22: optional Item inner
  23: list<Item> items
  24: optional i32 limit = 7
  25: optional Point origin = {"x": 1}
  26: map<i64, i64> ids
  27: map<uuid, bool> keys
}

struct Named {
  1: i64 id (json.name = "@id")
  2: i64 exact (go.tag = "json:\"exact,string\"")
  3: bool yes (go.tag = 'json:",string"')
  4: string secret (go.tag = 'json:"-"')
  5: string dash (go.tag = 'json:"-,"')
  6: string quoted (json.name = 'a"b\\')
}

struct Clash {
  1: i32 first (json.name = "second")
  2: i32 second
}

struct Node {
  1: optional Node next
  2: list<Node> nodes
}

service Shop {
  Item get(1: i64 id) throws (1: Refused refused)
}

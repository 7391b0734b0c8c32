// The service that this module's tests call.
namespace go shop

enum Colour { RED = 1, BLUE = 2 }

struct Item {
  1: string name
  2: i64 price
  3: optional binary picture
  4: Colour colour
  5: list<string> tags
}

struct Order {
  1: i64 id
  2: list<Item> items
  3: map<string, string> labels
  4: Item first
}

exception NotFound {
  1: string what
}

exception Busy {
  1: i32 seconds
}

service Health {
  /** Ping does nothing. */
  void ping()
}

service Shop extends Health {
  Order echo(1: Order order, 2: string note) throws (1: NotFound missing, 2: Busy busy)
  i64 count(1: i32 n)
  string text(1: string s)
  list<i64> numbers(1: list<i64> values)
  Colour colour(1: Colour c)
  void check(1: binary data) throws (1: NotFound missing)
  oneway void note(1: Order order)
}

service Feed {
  Order last(1: Order order)
  Order talk(1: Order order) (streaming.mode = "bidirectional")
  Order watch(1: Order order) (streaming.mode = "server")
  Order upload(1: Order order) (streaming.mode = "client")
}

// What clients and back ends of the example speak. The proxy does not know it.
namespace go shop

struct Tenant {
  1: string id
  2: string region
}

// Header is the first field of the first argument of every method.
struct Header {
  1: Tenant tenant
  2: string via // the proxies that a call came through, set by them
  3: map<string, string> labels
}

struct Line {
  1: string article
  2: i32 count
  3: double price
  4: list<string> notes
}

struct Order {
  1: Header header
  2: i64 id
  3: list<Line> lines
  4: binary document
}

struct Question {
  1: Header header
  2: i64 id
}

struct Receipt {
  1: i64 id
  2: string backend
  3: string via
  4: i32 lines
  5: binary document
}

exception Refused {
  1: string why
}

service Orders {
  // Place returns the document too, so that replies are large where requests are.
  Receipt place(1: Order order) throws (1: Refused refused)
  bool known(1: Question question)
  oneway void note(1: Order order)
}

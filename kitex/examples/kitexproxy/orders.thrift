// The service that is called through a proxy.
namespace go orders

struct Header {
  1: string tenant
  2: string via
}

struct Order {
  1: i64 id
  2: Header header
  3: list<string> lines
  4: binary document
}

struct Receipt {
  1: i64 id
  2: string backend
  3: Header header
  4: i64 bytes
}

service Orders {
  /** Place stores an order. Placing an order again, with the same id, does no harm. */
  Receipt place(1: Order order)
}

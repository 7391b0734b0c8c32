// A service with nested messages. What stands in Trace comes from the request's headers, also into
// orders that come as Thrift, and can't be in a body.

enum Payment {
  CARD = 1,
  INVOICE = 2
}

struct Line {
  1: required string article
  2: i32 count = 1
  3: i64 cents
}

struct Trace {
  1: string request_id (api.header = "X-Request-Id")
  2: string agent (api.header = "User-Agent")
}

struct Order {
  1: required string customer
  2: list<Line> lines
  3: Payment payment = Payment.CARD
  4: optional string coupon (api.query = "coupon")
  5: optional Trace trace
}

struct Receipt {
  1: i64 id (api.js_conv)
  2: i32 lines
  3: i64 cents
  4: string request_id (api.header = "X-Request-Id")
  5: i32 status (api.http_code)
}

exception Refused {
  1: string why
} (api.http_code = "422")

service Orders {
  /** Takes an order: JSON, or Thrift Binary with the content type application/x-thrift. */
  Receipt submit(1: Order order) throws (1: Refused refused) (api.post = "/v1/orders")
}

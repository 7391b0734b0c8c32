// The messages of the quickstart: an order, and the receipt that the shop answers with.
namespace go order

struct Line {
  1: required string article
  2: i32 count
  3: double price
}

struct Order {
  1: required i64 id
  2: string customer
  3: list<Line> lines
  /** A scan of the signed form: some kilobytes, which are sent from where they are. */
  4: binary document
  5: map<string, string> labels
}

struct Receipt {
  1: i64 order_id
  2: string message
  3: double total
  4: i32 lines
  /** How many bytes the document had on arrival. */
  5: i32 document_size
}

/** How an order is paid: one of these. */
union Payment {
  1: string card
  2: i64 voucher
}

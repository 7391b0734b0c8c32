// The records of the archive: invoices.
namespace go invoice

struct Party {
  1: i64 id
  2: string name
  3: string country
}

struct Line {
  1: string article
  2: i32 count
  3: double price
}

struct Invoice {
  1: required i64 number
  2: i64 time
  3: list<Line> lines
  4: map<string, string> labels
  5: Party buyer
  6: Party seller
  7: double total
}

// The service that is measured.
namespace go records

struct Meta {
  1: i64 id
  2: string tenant
  3: string trace
  4: i32 hops
}

struct Item {
  1: i64 id
  2: string name
  3: double price
  4: list<string> tags
  5: string note
}

struct Record {
  1: Meta meta
  2: list<Item> items
  3: list<i64> numbers
  4: binary data
}

service Records {
  Record put(1: Record record)
}

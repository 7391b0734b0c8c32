// A service that extends one of another package and uses its types.
namespace go market

include "../shop/shop.thrift"

struct Stall {
  1: shop.Item best
  2: map<shop.Item, i64> stock
  3: list<shop.Order> orders
  4: shop.Colour colour
}

service Market extends shop.Health {
  Stall open(1: Stall stall, 2: shop.Order order) throws (1: shop.NotFound missing)
  shop.Colour paint(1: shop.Colour colour)
  list<shop.Item> items(1: map<string, shop.Item> items)
  oneway void note(1: shop.Order order)
}

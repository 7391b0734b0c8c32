namespace go shop

struct Item { 1: i64 id, 2: string name }

service Shop { Item get(1: i64 id) }

struct Foo { 1: i32 a }
struct Nocopy { 1: i32 v }

namespace go s
struct Foo { 1: i32 a }
enum Bar { X = 1 }

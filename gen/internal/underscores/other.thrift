// Included: other packages use these names.
namespace go underscores.other

struct _part { 1: string _text }
service _base { i32 _version() }

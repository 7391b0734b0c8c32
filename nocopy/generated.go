package nocopy

import "github.com/nocopythrift/nocopythrift/nocopy/internal/engine"

// GeneratedV1 is what code that version 0.1.0 generated refers to. The compiler reports that it is
// not a constant, and names its type, which says what to do.
var GeneratedV1 engine.GenerateThisCodeAgainWithNocopyc

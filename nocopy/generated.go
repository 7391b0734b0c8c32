package nocopy

import "github.com/nocopythrift/nocopythrift/nocopy/internal/engine"

// GeneratedV1 makes code that version 0.1.0 generated fail to compile. The compiler reports that
// GeneratedV1 is not a constant, and names its type, which says what to do.
var GeneratedV1 engine.GenerateThisCodeAgainWithNocopyc

// Internals of the package for its tests, and for tests outside of it.

package engine

import "github.com/nocopythrift/nocopythrift/nocopy/internal/schema"

// Debugging reports whether the tag nocopydebug is set.
const Debugging = debugging

// What the environment leaves of the tag's checks.
var ChecksMissing, ChecksRemoved = checksMissing, checksRemoved

// What package render, which imports this one, has for tests.
var (
	TextOf          func(s Struct, d *schema.Struct) string
	ContainerTextOf func(s Struct, none string) string
)

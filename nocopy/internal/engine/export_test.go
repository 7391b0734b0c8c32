// Internals of the package for its tests, and for tests outside of it.

package engine

import "github.com/nocopythrift/nocopythrift/nocopy/internal/schema"

// Debugging reports whether the tag nocopydebug is set.
const Debugging = debugging

// The tag's checks that the environment has not switched off.
var ChecksMissing, ChecksRemoved = checksMissing, checksRemoved

// Functions of package render, which imports this one, for tests.
var (
	TextOf          func(s Struct, d *schema.Struct) string
	ContainerTextOf func(s Struct, none string) string
)

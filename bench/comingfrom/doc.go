// Package comingfrom has what users of other libraries do today, and how that is written here, as
// pairs of functions that its tests run. docs/coming-from.md shows their bodies side by side;
// go test -update writes them there.
package comingfrom

// Package comingfrom has pairs of functions: the code that users of other libraries write today,
// and the same with nocopythrift. Its tests run them. docs/coming-from.md shows their bodies side
// by side; go test -update writes them there.
package comingfrom

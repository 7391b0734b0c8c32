//go:build !nocopydebug

package memory

// Debugging reports whether the program was built with the tag nocopydebug.
const Debugging = false

// blockDebug has fields only in builds with the tag nocopydebug.
//
//lint:ignore U1000 embedded for the tag
type blockDebug struct{}

func (*Block) mapOwn(int) {}
func (*Block) protect()   {}
func (*Block) abandon()   {}
func (*Block) adopted()   {}
func (*Block) freed()     {}

// BlocksInUse returns how many recycled blocks were taken and not given back. Only builds with the
// tag nocopydebug count them; others return 0.
func BlocksInUse() int { return 0 }

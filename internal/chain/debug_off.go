//go:build !nocopydebug

package chain

const debugging = false

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

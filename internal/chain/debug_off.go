//go:build !nocopydebug

package chain

const debugging = false

// blockDebug is what builds with the tag nocopydebug keep for each Block.
//
//lint:ignore U1000 embedded for the tag
type blockDebug struct{}

func (*Block) mapOwn(int) {}
func (*Block) protect()   {}
func (*Block) abandon()   {}
func (*Block) adopted()   {}
func (*Block) freed()     {}

// BlocksInUse returns how many recycled blocks have been taken and not given back. Only builds
// with the tag nocopydebug count them; in others it is 0.
func BlocksInUse() int { return 0 }

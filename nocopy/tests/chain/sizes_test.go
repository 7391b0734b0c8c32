// The sizes that tests of package chain know.

package chain_test

import (
	"math"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

// What package chain calls so, too.
const (
	firstRead = chain.SlabSize // how much ReadN allocates before any byte has come
	segSize   = 1 << 20        // the bytes of a segment
	adopted   = 2 << 10        // the size up to which a message is copied when a value changes
	everyNode = math.MaxUint32 // any node
)

var _ = [1]int{}[chain.FirstPos-segSize] // the second segment's first position

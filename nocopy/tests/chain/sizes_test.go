// Constants for the tests of package chain.

package chain_test

import (
	"math"

	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/memory"
)

// The same constants as in package chain.
const (
	firstRead = memory.SlabSize // how much ReadN allocates before the first byte has arrived
	segSize   = 1 << 20         // the bytes of a segment
	adopted   = 2 << 10         // the size up to which Adopt copies memory
	everyNode = math.MaxUint32  // any node
)

var _ = [1]int{}[chain.FirstPos-segSize] // the second segment's first position

// Constants and texts of the engine that tests repeat.

package engine_test

import (
	"strconv"

	"github.com/nocopythrift/nocopythrift/internal/chain"
)

const (
	indexFloor = 16 << 20 // bytes of an index that are never refused
	maxCount   = chain.MaxSize
)

// Texts of panics.
const (
	panicStale     = "nocopy: handle used after Release"
	panicAbsent    = "nocopy" + setterOnAbsent + "NewX first"
	panicFull      = "nocopy: message larger than its address space of 2 GiB"
	panicTwice     = "nocopy: message released twice"
	panicGone      = "nocopy: setter called on a struct or container that is no longer in its message"
	panicNotRoot   = "nocopy: Release called on a handle that is not its message's root"
	setterOnAbsent = ": setter called on an absent struct or container: use "
)

func itoa(i int) string { return strconv.Itoa(i) }

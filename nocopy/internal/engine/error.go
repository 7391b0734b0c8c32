package engine

// The fixed texts of panics about wrong use.
const (
	panicStale   = "nocopy: handle used after Release"
	panicEmpty   = "nocopy: empty Message used: ParseInto or NewInto fills it"
	panicAbsent  = "nocopy" + setterOnAbsent + "NewX first"
	panicTwice   = "nocopy: message released twice"
	panicGone    = "nocopy: setter called on a struct or container that is no longer in its message"
	panicNotRoot = "nocopy: Release called on a handle that is not its message's root"

	panicNotKept = "nocopy: message of this library used as one of the program's own"
	panicCopied  = "nocopy: copy of a Message used"
	panicOption  = "nocopy: an Option is a pointer, or a struct around an option: pass Limits, Lazy and so on as they are"

	setterOnAbsent = ": setter called on an absent struct or container: use "
)

// GenerateThisCodeAgainWithNocopyc appears in the compiler's error for code that an older version
// generated: the constant that such code refers to is a variable of this type.
type GenerateThisCodeAgainWithNocopyc struct{}

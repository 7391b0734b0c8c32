package parse

// machine runs a program over the bytes of a window. Its state is in here while the loop does not
// run; the loop keeps it in registers.
type machine struct {
	pc     uint32 // the op that is next: its offset in the code
	entry  uint32 // the entry whose words are filled
	used   uint32 // how many words of the index are in use
	room   uint32 // how many may be
	deeper int32  // how many more structs may be nested
	head   uint32 // the position wire.FieldHeader bytes after the beginning of the window
	left   uint32 // elements to come after this one
	at     uint64 // the index in the window that the machine is at
	top    uint32 // levels in use
	bottom uint32 // how many of them were there before: they are not this program's to end
	after  uint64 // bytes after the window

	memory
}

// level is where to go on when a struct or container has ended. It holds no pointers: so storing
// it needs no write barrier.
type level struct {
	entry uint32
	left  uint32
	pc    uint32
	list  uint32 // the entry of the list or map that ends; 0: it is a struct
}

// mode says, as the length of an array, what the loop does besides indexing. The compiler makes a
// loop for each mode, in which what only other modes do costs nothing.
type mode interface {
	indexing | checking | lazily | passing
}

type (
	indexing [0]byte
	checking [modeChecks]byte // texts must be UTF-8
	lazily   [modeLazy]byte   // structs and containers in fields are left for later
	passing  [modePasses]byte // nothing is stored: only the end is looked for
)

const (
	modeChecks = 1
	modeLazy   = 2
	modePasses = 4
)

// reason is why the loop has ended.
type reason int

const (
	finished       reason = iota
	unforeseen            // something that no op foresees
	indexFull             // the index has no room for want more words
	tooManyStructs        // structs are nested too deeply
	levelsFull            // there are no more levels
)

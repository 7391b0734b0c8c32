package nocopy

import "github.com/nocopythrift/nocopythrift/internal/chain"

// Option changes how a message is made or parsed: [Lazy], [Own], [Recycle], [ValidUTF8], or a
// [Limits].
type Option interface{ option() }

type flag uint8

func (flag) option() {}

const (
	// Lazy makes Parse validate by skipping and index only the top level, with small structs in it;
	// anything else is indexed when it is first touched. Until Message.Index has been called, reading
	// is for one goroutine at a time. A container whose index might exceed the limit is indexed at
	// once. What skipping can't see is not checked: required fields of inner structs, how deep their
	// unknown fields are and, with ValidUTF8, their strings.
	Lazy flag = 1 << iota

	// Own gives the bytes passed to Parse to the message: it stores into them when fields of fixed
	// size are set. The caller must not use them any more.
	Own

	// Recycle lets the message take its memory from pools and give it back on Release. Strings, byte
	// slices and handles got from it die with it.
	Recycle

	// held marks messages of package rpc, see held.go. It stands next to Recycle for the sake of
	// pool.
	held

	// ValidUTF8 makes Parse refuse strings that are not UTF-8 (not binary fields). Without it they
	// are kept as they are.
	ValidUTF8

	// limited is set when there are Limits.
	limited
)

// Limits bounds what Parse accepts. Zero means the default. With New, only MaxDepth counts, from
// 64 upwards.
type Limits struct {
	MaxBytes int // of the message: 100 MiB
	// Of structs in structs, and of containers in a field that is skipped: 64, at most 65,536; see
	// Message.Finish
	MaxDepth int
	MaxIndex int // bytes of index: 16 MiB and 64 for each byte of the message
}

func (Limits) option() {}

const (
	defaultMaxBytes = 100 << 20
	defaultMaxDepth = 64
	mostDepth       = 1 << 16 // more takes too much stack
	indexPerByte    = 64
	indexFloor      = 16 << 20 // no index below is refused
)

// usualLimits are those of messages without others.
var usualLimits = Limits{defaultMaxBytes, defaultMaxDepth, 0}

// flagsOf returns the flags among the options, and limited if there are Limits.
func flagsOf(opts []Option) flag {
	var flags flag
	for _, o := range opts {
		if f, ok := o.(flag); ok {
			flags |= f
		} else {
			flags |= limited
		}
	}
	return flags
}

// configOf returns the flags among the options, and the limits.
func configOf(opts []Option) (flag, Limits) {
	flags := flagsOf(opts)
	if flags&limited == 0 {
		return flags, usualLimits
	}
	return flags, limitsOf(opts)
}

// limitsOf returns the Limits among the options.
func limitsOf(opts []Option) Limits {
	limits := usualLimits
	for _, o := range opts {
		if l, ok := o.(Limits); ok {
			limits = l.orElse(limits)
		}
	}
	return limits
}

// orElse returns the limits with those of other for what they leave to the default. MaxIndex has
// none in numbers.
func (l Limits) orElse(other Limits) Limits {
	if l.MaxBytes > 0 {
		other.MaxBytes = min(l.MaxBytes, chain.MaxSize)
	}
	if l.MaxDepth > 0 {
		other.MaxDepth = min(l.MaxDepth, mostDepth)
	}
	other.MaxIndex = l.MaxIndex
	return other
}

// maxIndex returns how many words the index of a message of n bytes may have.
func (l *Limits) maxIndex(n int) uint32 {
	limit := uint64(l.MaxIndex)
	if l.MaxIndex <= 0 {
		limit = indexPerByte*uint64(n) + indexFloor
	}
	return uint32(min(limit/4, maxWords))
}

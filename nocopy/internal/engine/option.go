package engine

import (
	"github.com/nocopythrift/nocopythrift/internal/chain"
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/parse"
)

// Option changes how a message is made or parsed: a flag or Limits. Package nocopy describes them.
type Option interface{ option() }

// Flags are the options that are on or off.
type Flags uint16

func (Flags) option() {}

// JSONOption is an option of package nocopyjson.
type JSONOption uint8

func (JSONOption) option() {}

// The flags. Those with a capital are options of package nocopy.
const (
	Lazy Flags = 1 << iota
	Own
	Recycle
	held // of package rpc, see lease.go. It stands next to Recycle for the sake of pool
	ValidUTF8
	limited // there are Limits
	WithIndex
	ByIndex
	RequireIndex
	Compact
	// AnySize, for tests, makes WithIndex and ByIndex be for messages of any size, with entries for
	// small values.
	AnySize
)

// Limits bounds what Parse accepts. A zero field means its default. For new messages only MaxDepth
// counts, and only values above 64.
type Limits struct {
	MaxBytes int // of the message: 100 MiB
	// Levels of structs in structs, and of containers in a skipped field: 64, at most 65,536; see
	// Message.Finish
	MaxDepth int
	// Bytes of index: 16 MiB plus 64 per byte of the message. Only messages of many empty structs
	// need more: a struct of 15 to 57 fields takes 4 bytes for each field, set or not
	MaxIndex int
}

func (Limits) option() {}

const (
	defaultMaxBytes = 100 << 20
	indexPerByte    = entry.PerByte
)

// usualLimits are the limits of messages without others.
var usualLimits = Limits{defaultMaxBytes, parse.MaxDepth, 0}

// flagsOf returns the flags among the options, and limited if there are Limits. A nil means
// nothing. Go also takes a pointer to an option, and a struct that embeds one: flagsOf panics,
// since limits that are not applied are worse.
func flagsOf(opts []Option) Flags {
	var flags Flags
	for _, o := range opts {
		switch o := o.(type) {
		case Flags:
			flags |= o
		case Limits:
			flags |= limited
		default:
			if o != nil {
				panic(panicOption)
			}
		}
	}
	return flags
}

// forBuilding is the flags that mean something to a message that is built. The others are about
// received bytes.
const forBuilding = Recycle | held | limited | WithIndex | AnySize

// builtFlags is flagsOf for a message that is built.
func builtFlags(opts []Option) Flags { return flagsOf(opts) & forBuilding }

// settled returns flags that do not contradict each other: it leaves one of those that put off
// indexing and WithIndex, which needs everything indexed.
func (f Flags) settled() Flags {
	switch {
	case f&WithIndex != 0:
		return f &^ (Lazy | ByIndex | RequireIndex)
	case f&RequireIndex != 0:
		f |= ByIndex
	}
	if f&ByIndex != 0 {
		f &^= Lazy
	}
	return f
}

// ConfigOf returns the flags among the options, and the limits.
func ConfigOf(opts []Option) (Flags, Limits) {
	flags := flagsOf(opts).settled()
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

// orElse returns l, with other's values for the fields that l leaves to the default.
func (l Limits) orElse(other Limits) Limits {
	if l.MaxBytes > 0 {
		other.MaxBytes = min(l.MaxBytes, chain.MaxSize)
	}
	if l.MaxDepth > 0 {
		other.MaxDepth = min(l.MaxDepth, parse.MostDepth)
	}
	if l.MaxIndex > 0 {
		other.MaxIndex = l.MaxIndex
	}
	return other
}

// MaxWords returns how many words the index of a message of n bytes may have.
func (l *Limits) maxIndex(n int) uint32 { return index.Limit(l.MaxIndex, n) }

//go:build !nocopydebug

package engine

import "github.com/nocopythrift/nocopythrift/nocopy/internal/schema"

const debugging = false

// origin says, in a build with the tag nocopydebug, where a message was made.
//
//lint:ignore U1000 embedded for the tag
type origin struct{}

// findWhere ends the text of a panic.
const findWhere = " (build with -tags nocopydebug to find where)"

func (*Message) track()   {}
func (*Message) untrack() {}

func (*Message) noteEnd() {}

func (*Message) whereEnded(uint64) string { return "" }

// Leaked returns where the messages were made that have not been released. It works only in builds
// with the tag nocopydebug; in others it returns nil.
func Leaked() []string { return nil }

const checksMissing, checksRemoved = false, false

// The notes on entries in builds with the tag nocopydebug.

func (*Message) mustHaveAll()                        {}
func (*Message) mustHaveNoted()                      {}
func (*Message) knowsUnset() bool                    { return false }
func (*Message) noteTemplate(*schema.Struct, uint32) {}
func (*Message) noteAllSet(uint32)                   {}
func (*Message) noteSet(uint32, schema.Ref)          {}
func (*Message) isUnset(uint32, schema.Ref) bool     { return false }
func (*Message) noteRemoved(*schema.Type, uint32)    {}
func (*Message) noteRemovedField(uint32)             {}
func (*Message) noteReused(_, _ uint32)              {}
func (*Message) checkPart(uint32)                    {}
func (*Message) dropNotes()                          {}

//go:build !nocopydebug

package engine

import "github.com/nocopythrift/nocopythrift/nocopy/internal/schema"

const checksMissing, checksRemoved = false, false

// What builds with the tag nocopydebug note of entries.

func (*Message) mustHaveAll()                        {}
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

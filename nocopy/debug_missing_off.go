//go:build !nocopydebug

package nocopy

const checksMissing, checksRemoved = false, false

// What builds with the tag nocopydebug note of entries.

func (*Message) mustHaveAll()                {}
func (*Message) knowsUnset() bool            { return false }
func (*Message) noteTemplate(*XDesc, uint32) {}
func (*Message) noteAllSet(uint32)           {}
func (*Message) noteSet(uint32, XField)      {}
func (*Message) isUnset(uint32, XField) bool { return false }
func (*Message) noteRemoved(*XType, uint32)  {}
func (*Message) noteRemovedField(uint32)     {}
func (*Message) noteReused(_, _ uint32)      {}
func (*Message) checkPart(uint32)            {}
func (*Message) dropNotes()                  {}

package index

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
)

// The word entry.Arm of a union tells which arm is set: it holds that field's word, or 0 if none
// is. The union may have extra fields on the wire, for which there is no word: fields that the IDL
// does not know, and all but the last of those that come again. Then the word holds the number of
// an entry for the last extra field, with the top bit set.

// HasExtra is that bit.
const HasExtra = 1 << 31

// The words of the entry for an extra field.
const (
	ExtraAt = iota
	ExtraEnd
	ExtraNext // the value of the word entry.Arm before this field was added
	ExtraArm  // the value of the word entry.Arm without such fields; only the last field's counts
	ExtraWords
)

// ArmWord returns where in the index it stands which arm of the union of entry e is set.
func (x *Index) ArmWord(e uint32) uint32 {
	if w := x.Words[e+entry.Arm]; w&HasExtra != 0 {
		return w&^HasExtra + ExtraArm
	}
	return e + entry.Arm
}

// AddExtra notes in w, ExtraWords words of the index, that the union of entry e has an extra field
// at these positions. Arm is the word of the arm that is set.
func (x *Index) AddExtra(w, e, at, end, arm uint32) {
	f := x.Words[w:][:ExtraWords]
	f[ExtraAt], f[ExtraEnd] = at, end
	f[ExtraNext], f[ExtraArm] = x.Words[e+entry.Arm], arm
	x.Words[e+entry.Arm] = HasExtra | w
}

// FreeExtra frees the entries of a union's extra fields. w is the word that stands for the last of
// them, and leads to the others.
func (x *Index) FreeExtra(w uint32) {
	for w&HasExtra != 0 {
		next := x.Words[w&^HasExtra+ExtraNext]
		x.FreeRaw(w&^HasExtra, ExtraWords)
		w = next
	}
}

// LastArm returns the number of the word of the last arm, in the order of the IDL, that is set in
// the union of entry e, a union of span words; 0 if none is.
func (x *Index) LastArm(e, span uint32, wide bool) (last uint32) {
	if wide {
		t := x.Words[e+entry.Table]
		for n := x.nextInTable(t, 0, span); n < span; n = x.nextInTable(t, n+1, span) {
			last = n
		}
		return last
	}
	for w := span - 1; w >= entry.UnionWords; w-- {
		if x.Words[e+w] != 0 {
			return w
		}
	}
	return 0
}

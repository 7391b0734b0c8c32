package index

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
)

// The word entry.Arm of a union says which arm is set: it holds that field's number, or 0 if none
// is. The union may have extra fields on the wire, for which there is no word: fields that the IDL
// does not know, and all but the last of those that come again. Then the word holds the number of
// an entry for the last extra field, with the top bit set.

// The words of the entry for an extra field.
const (
	extraAt = iota
	extraEnd
	extraNext // the value of the word entry.Arm before this field was added
	extraArm  // the value of the word entry.Arm without such fields; only the last field's counts
	ExtraWords
)

// ArmField returns the number of the field that is set in the union of entry e; 0 if none is.
func (x *Index) ArmField(e uint32) uint32 { return x.Words[x.armWord(e)] }

// SetArmField makes field the number of the field that is set in the union of entry e. Extra
// fields stay.
func (x *Index) SetArmField(e, field uint32) { x.Words[x.armWord(e)] = field }

// armWord returns the number of the word that says which field of a union is set.
func (x *Index) armWord(e uint32) uint32 {
	if w := x.Arm(e); w.HasExtra() {
		return w.Extra() + extraArm
	}
	return e + entry.Arm
}

// AddExtra notes in w, ExtraWords words of the index, that the union of entry e has an extra field
// at these positions. arm is what ArmField returns.
func (x *Index) AddExtra(w, e, at, end, arm uint32) {
	f := x.Words[w:][:ExtraWords]
	f[extraAt], f[extraEnd] = at, end
	f[extraNext], f[extraArm] = x.Words[e+entry.Arm], arm
	x.SetArm(e, mark|Word(w))
}

// FreeExtra frees the entries of a union's extra fields. w is the word that stands for the last of
// them, and leads to the others.
func (x *Index) FreeExtra(w Word) {
	for w.HasExtra() {
		_, _, next := x.Extra(w)
		x.FreeRaw(w.Extra(), ExtraWords)
		w = next
	}
}

// Extra returns where the extra field that w stands for begins and ends, and the word that stands
// for the one before.
func (x *Index) Extra(w Word) (at, end uint32, next Word) {
	f := x.Words[w.Extra():][:ExtraWords]
	return f[extraAt], f[extraEnd], Word(f[extraNext])
}

// LastArm returns the number of the last arm, in the order of the IDL, that is set in the union of
// entry e, a union of span words; 0 if none is.
func (x *Index) LastArm(e, span uint32, wide bool) (last uint32) {
	if wide {
		t := x.Words[e+entry.Table]
		for n := x.nextInTable(t, 0, span); n < span; n = x.nextInTable(t, n+1, span) {
			last = n - entry.Displacement
		}
		return last
	}
	for w := span - 1; w >= entry.UnionWords; w-- {
		if x.Words[e+w] != 0 {
			return w - entry.Displacement
		}
	}
	return 0
}

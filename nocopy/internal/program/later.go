package program

import (
	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// canWait reports whether Lazy may leave field f, a struct or container, for later.
func canWait(f *schema.Field) bool {
	return !f.FixedList() && !(f.Kind() == schema.Record && plain(f.Type.Struct()))
}

// holdsLists reports whether t is a list of structs that have values which Lazy leaves for later.
// Lazy then leaves these values, and not all of the list: nothing is passed over twice.
func holdsLists(t *schema.Type) bool {
	if t.Kind() != schema.List || t.Elem().Kind() != schema.Record {
		return false
	}
	for i := range t.Elem().Struct().Fields() {
		if f := &t.Elem().Struct().Fields()[i]; f.Kind() >= schema.Record && canWait(f) {
			return true
		}
	}
	return false
}

// Narrow bounds the words of a struct's entry such that even a list of empty structs, of one byte
// each, does not exceed the default limit of the index.
const Narrow = entry.PerByte/4 - 2

// maxPlain bounds the words of a plain struct's entry together with the entries of all values in
// it.
const maxPlain = 64

// plain reports whether the struct is small and has nothing but fields of fixed size, lists of
// such, texts and plain structs: Lazy indexes it at once.
func plain(d *schema.Struct) bool { return plainWords(d, maxPlain) <= maxPlain }

// plainWords returns how many words the entries of the struct and of all values in it take; more
// than most if the struct is not plain.
func plainWords(d *schema.Struct, most int) int {
	n := d.Words()
	if d.IsUnion() || d.IsWide() || n > most {
		return most + 1
	}
	for i := range d.Fields() {
		switch f := &d.Fields()[i]; {
		case f.FixedList():
			n += entry.ListWords
		case f.Kind() > schema.Record:
			return most + 1
		case f.Kind() == schema.Record && n <= most:
			n += plainWords(f.Type.Struct(), most-n)
		}
	}
	return n
}

package thriftimpl

import (
	"fmt"
	"log/slog"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// Row writes structs all of whose fields are known.
type Row = nocopy.XRow

// PutEnum writes field f, an optional enum.
func PutEnum[E ~int32](r *Row, at int, f Field, v nocopy.Opt[E]) int {
	if !v.Set {
		return at
	}
	return r.Int32(at, f, int32(v.Value))
}

// PutEnums writes field f, a list or set of enums, of a struct that d describes. It writes nothing
// if v is nil. Duplicates in a set are left out.
func PutEnums[E ~int32](r *Row, at int, f Field, d *Desc, v []E) int {
	return nocopy.XEnums[E](v).PutIn(r, at, f, d)
}

// PutPairs writes field f, a map, of a struct that d describes. It writes nothing if v is nil.
func PutPairs[KC Codec[K], VC Codec[V], K, V any](r *Row, at int, f Field, d *Desc, v []nocopy.Pair[K, V]) int {
	return nocopy.XRowPairs[K, V, KC, VC](v).Put(r, at, f, d)
}

// FormatOnce formats the message with root s, and releases it.
func FormatOnce[S nocopy.StructView](s S, f fmt.State, verb rune) {
	defer nocopy.Struct(s).Release()
	Format(s, f, verb)
}

// LogValueOnce returns the message with root s for a log, and releases it.
func LogValueOnce[S nocopy.StructView](s S) slog.Value {
	defer nocopy.Struct(s).Release()
	return LogValue(s)
}

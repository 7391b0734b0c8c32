package inspect

import (
	"errors"
	"io"
	"math"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// put writes a row with the bytes that were read since begin.
func (w *walker) put(r *row) error {
	if w.out == nil {
		return nil
	}
	r.Offset, r.Size, r.raw = w.in.row, w.in.off-w.in.row, w.in.raw
	if r.Kind != kindInput && r.Kind != kindFrame && r.Kind != kindMessage {
		r.Path = shortPath(w.path)
	}
	return w.out.put(r)
}

// broken writes the part of row r that is there, and a fault at the current offset.
func (w *walker) broken(r *row, err error) error { return w.brokenAt(r, w.in.off, err) }

// brokenAt writes the part of row r that is there, and a fault at offset at.
func (w *walker) brokenAt(r *row, at int64, err error) error {
	if w.in.off > w.in.row {
		if r.Kind == kindField && r.ID == nil {
			r.Type = ""
		}
		if err := w.put(r); err != nil {
			return err
		}
	}
	return w.faultAt(at, r.Depth, err)
}

// faultAt writes a row about a fault and returns the error: a *nocopy.Error, or the Reader's own
// error if the stream could not be read.
func (w *walker) faultAt(at int64, depth int, err error) error {
	if w.partial && err == io.ErrUnexpectedEOF {
		return errMore
	}
	fault := &nocopy.Error{Offset: int(min(at, math.MaxInt)), Path: shortPath(w.path), Err: err}
	var gap *gapError // a live connection reports gaps itself
	if w.out != nil && !errors.As(err, &gap) {
		r := row{Kind: kindFault, Offset: at, Depth: depth, Path: fault.Path, Error: err.Error()}
		if err := w.out.put(&r); err != nil {
			return err
		}
	}
	var read *readError
	if errors.As(err, &read) {
		return read.err
	}
	return fault
}

// mostPath bounds the bytes of a path that are shown.
const mostPath = 200

// shortPath returns a path as text, or only the end of a long one.
func shortPath(path []byte) string {
	if len(path) > mostPath {
		return "…" + string(path[len(path)-mostPath:])
	}
	return string(path)
}

package inspect

import (
	"errors"
	"io"
	"math"

	"github.com/nocopythrift/nocopythrift/nocopy"
)

// put puts a row with the bytes that were read since begin.
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

// broken puts what there is of a row and the fault that ends it, where the bytes end.
func (w *walker) broken(r *row, err error) error { return w.brokenAt(r, w.in.off, err) }

// brokenAt ends row r, which is broken, at a fault whose offset is not that of the row: the row is
// written as far as it is known, then the fault.
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

// faultAt puts a row about what is wrong and returns the error: a *nocopy.Error, or the Reader's
// own if the stream could not be read.
func (w *walker) faultAt(at int64, depth int, err error) error {
	if w.partial && err == io.ErrUnexpectedEOF {
		return errMore
	}
	fault := &nocopy.Error{Offset: int(min(at, math.MaxInt)), Path: shortPath(w.path), Err: err}
	var gap *gapError // a live connection's, which tells of it
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

// mostPath is the most bytes of a path that are shown.
const mostPath = 200

// shortPath returns a path as text; of a long one the end.
func shortPath(path []byte) string {
	if len(path) > mostPath {
		return "…" + string(path[len(path)-mostPath:])
	}
	return string(path)
}

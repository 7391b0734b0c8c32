// Package records is a file of Thrift messages with keys: they are appended, looked up, and read
// where they are, since the file is mapped into memory.
//
// The messages stand one after the other, with nothing between them, as a Thrift library writes
// structs to a file. Beside the file F is F.keys, with 16 bytes for each message, big-endian: its
// key, and the offset in F of its end.
package records

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
)

// keyBytes is how many bytes of the file of keys stand for each message.
const keyBytes = 16

// ErrOrder is the error of a key that is not greater than the one before.
var ErrOrder = errors.New("records: keys must become greater")

// Writer appends messages. It is for one goroutine at a time, and one program.
type Writer struct {
	data, keys *os.File
	end, last  int64
	n          int64
}

// Append opens the file to append to it, and creates it if there is none. It cuts off a record
// that an interrupted program has appended only in part.
func Append(name string) (w *Writer, err error) {
	w = new(Writer)
	defer func() {
		if err != nil {
			w.Close()
			w = nil
		}
	}()
	if w.data, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return
	}
	if w.keys, err = os.OpenFile(name+".keys", os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return
	}
	info, err := w.keys.Stat()
	if err != nil {
		return
	}
	if w.n = info.Size() / keyBytes; w.n > 0 {
		var b [keyBytes]byte
		if _, err = w.keys.ReadAt(b[:], (w.n-1)*keyBytes); err != nil {
			return
		}
		w.last, w.end = int64(binary.BigEndian.Uint64(b[:])), int64(binary.BigEndian.Uint64(b[8:]))
	}
	if info, err = w.data.Stat(); err != nil {
		return
	}
	if info.Size() < w.end {
		err = fmt.Errorf("records: %s has %d bytes, and its keys are for %d", name, info.Size(), w.end)
		return
	}
	if err = w.data.Truncate(w.end); err != nil {
		return
	}
	return w, w.keys.Truncate(w.n * keyBytes)
}

// Append appends a message. Its key must be greater than the previous message's.
func (w *Writer) Append(key int64, m io.WriterTo) error {
	if w.n > 0 && key <= w.last {
		return ErrOrder
	}
	n, err := m.WriteTo(io.NewOffsetWriter(w.data, w.end))
	if err != nil {
		return err
	}
	var b [keyBytes]byte
	binary.BigEndian.PutUint64(b[:], uint64(key))
	binary.BigEndian.PutUint64(b[8:], uint64(w.end+n))
	if _, err := w.keys.WriteAt(b[:], w.n*keyBytes); err != nil {
		return err
	}
	w.end, w.last, w.n = w.end+n, key, w.n+1
	return nil
}

// Last returns the key of the last message, 0 if there is none.
func (w *Writer) Last() int64 { return w.last }

// Close closes the files.
func (w *Writer) Close() error {
	var errs []error
	for _, f := range []*os.File{w.data, w.keys} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// File is a file of messages, mapped. Any number of goroutines may read it.
type File struct{ data, keys []byte }

// Open maps the file. It must not become shorter while it is open: reading bytes that are gone
// ends the program. Messages that are appended later are not seen.
func Open(name string) (*File, error) {
	keys, err := mapped(name + ".keys")
	if err != nil {
		return nil, err
	}
	f := &File{keys: keys[:len(keys)/keyBytes*keyBytes]}
	if f.data, err = mapped(name); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close ends the mapping. What At and Find have returned must not be used any more, nor messages
// that refer to it.
func (f *File) Close() error {
	err := errors.Join(unmap(f.data), unmap(f.keys[:cap(f.keys)]))
	*f = File{}
	return err
}

// Len returns how many messages there are.
func (f *File) Len() int { return len(f.keys) / keyBytes }

// Key returns the key of message i.
func (f *File) Key(i int) int64 { return int64(binary.BigEndian.Uint64(f.keys[i*keyBytes:])) }

func (f *File) end(i int) uint64 { return binary.BigEndian.Uint64(f.keys[i*keyBytes+8:]) }

// At returns the bytes of message i, which are the file's: they may be read until Close. They are
// nil if the file of keys is wrong about where it is.
func (f *File) At(i int) []byte {
	from, to := uint64(0), f.end(i)
	if i > 0 {
		from = f.end(i - 1)
	}
	if from > to || to > uint64(len(f.data)) {
		return nil
	}
	return f.data[from:to:to]
}

// Find returns the bytes of the message with this key, as At does, and whether there is one.
func (f *File) Find(key int64) ([]byte, bool) {
	i := sort.Search(f.Len(), func(i int) bool { return f.Key(i) >= key })
	if i == f.Len() || f.Key(i) != key {
		return nil, false
	}
	b := f.At(i)
	return b, b != nil
}

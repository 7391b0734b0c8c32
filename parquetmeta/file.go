package parquetmeta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

var (
	// ErrNotParquet is in the error of Open if the file does not end as Parquet files do.
	ErrNotParquet = errors.New("not a Parquet file")

	// ErrEncrypted is wrapped by the error of Open if the footer is encrypted, of a chunk's
	// methods for indexes if the chunk is, and of AppendFooter if the footer must be signed.
	ErrEncrypted = errors.New("encrypted")

	// ErrOtherFile is wrapped by the error of Chunk.Range and of a chunk's methods for indexes if
	// the chunk is in another file, whose path the error names: see Chunk.FilePath.
	ErrOtherFile = errors.New("in another file")

	// ErrSchema is in the error of Open if the schema is no tree, or a row group has not a chunk
	// for each column.
	ErrSchema = errors.New("schema does not fit")
)

const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
	tailSize       = 4 + len(magic) // the footer's length, little-endian, and the magic

	usualTail = 64 << 10
	signature = 28 // bytes of nonce and tag after the footer of a file whose columns are encrypted
)

// File is the footer of a Parquet file. It does not change, and any number of goroutines may use
// it. It keeps the footer's bytes, and takes 4 bytes for each column chunk and 28 for each node
// of the schema.
type File struct {
	r      io.ReaderAt
	size   int64
	limits nocopy.Limits

	b        []byte // the footer, without its signature
	start    int64  // where in the file b begins
	version  int32
	numRows  int64
	signed   bool
	creator  []byte
	pairs    int // where the list of keys and values is, or 0
	orders   int // where the list of the columns' orders is, or 0
	nodes    []node
	leaves   []int32 // the nodes that are columns
	groups   []group
	chunks   []uint32 // where the chunks begin: the first group's, then the next's
	paths    *paths
	required [5]bool // which of the fields 1 to 4 there are
}

// group is a row group: where it begins, where its list of columns ends, and which of the chunks
// is the first after its own.
type group struct{ start, rest, end uint32 }

// Open reads the footer of a Parquet file of size bytes: with one call of ReadAt if it has less
// than 64 KiB, else with two. Open goes over the footer once, without decoding it, and notes
// where schema, row groups and column chunks are. Methods of the File decode them from there.
//
// A footer may have 100 MiB, or the MaxBytes of the limits. The other limits hold for the messages
// that Metadata and its like return. If the footer is wrong, the error is a *[nocopy.Error], whose
// offset counts from the footer's beginning. Other errors are errors of r, or wrap [ErrNotParquet]
// or [ErrEncrypted].
//
// The file may be closed after Open if nobody asks for the indexes of chunks.
func Open(r io.ReaderAt, size int64, limits ...nocopy.Limits) (*File, error) {
	return OpenTail(r, size, usualTail, limits...)
}

// OpenTail is Open with another guess of the footer's length: its first call of ReadAt reads the
// last tail bytes, at least 8. If the footer is not in them, a second call reads the rest of it.
// Where each call is a request over a network, a guess that is large enough saves one.
func OpenTail(r io.ReaderAt, size int64, tail int, limits ...nocopy.Limits) (*File, error) {
	f := &File{r: r, size: size, paths: new(paths)}
	for _, l := range limits {
		f.limits = l
	}
	if err := f.read(int64(max(tail, tailSize))); err != nil {
		return nil, err
	}
	s := scanner{b: f.b}
	if path := f.scan(&s); path != "" {
		return nil, &nocopy.Error{Offset: s.at, Path: path, Err: s.err}
	}
	return f, nil
}

// maxBytes returns how many bytes of a footer or index are read.
func (f *File) maxBytes() int64 {
	if f.limits.MaxBytes > 0 {
		return int64(f.limits.MaxBytes)
	}
	return 100 << 20
}

// read reads the footer's bytes. It begins with the last guess bytes of the file.
func (f *File) read(guess int64) error {
	tail := make([]byte, min(max(f.size, 0), guess, f.maxBytes()+int64(tailSize)))
	if len(tail) < tailSize {
		return fmt.Errorf("parquetmeta: a file of %d bytes: %w", f.size, ErrNotParquet)
	}
	if err := readFull(f.r, tail, f.size-int64(len(tail))); err != nil {
		return err
	}
	end := len(tail) - tailSize
	switch have := string(tail[end+4:]); have {
	case magic:
	case magicEncrypted:
		return fmt.Errorf("parquetmeta: the footer is %w: decrypt the file first", ErrEncrypted)
	default:
		return fmt.Errorf("parquetmeta: the file ends with %q: %w", have, ErrNotParquet)
	}
	n := int64(binary.LittleEndian.Uint32(tail[end:]))
	f.start = f.size - int64(tailSize) - n
	switch {
	case f.start < 0:
		return fmt.Errorf("parquetmeta: a footer of %d bytes in a file of %d: %w", n, f.size, ErrNotParquet)
	case n > f.maxBytes():
		return fmt.Errorf("parquetmeta: a footer of %d bytes: %w", n, nocopy.ErrLimit)
	case n <= int64(end):
		f.b = tail[end-int(n) : end : end]
		return nil
	}
	f.b = make([]byte, n)
	missing := n - int64(end)
	copy(f.b[missing:], tail)
	return readFull(f.r, f.b[:missing], f.start)
}

// readFull fills b with the bytes at this offset.
func readFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

// scan goes over the footer. If the footer is wrong, scan returns the path of the wrong value; the
// scanner has the offset and the error.
func (f *File) scan(s *scanner) (path string) {
	const root = "FileMetaData"
	path, i := f.scanFields(s)
	if i < 0 {
		return root + path
	}
	for id, name := range []string{"", ".version", ".schema", ".num_rows", ".row_groups"} {
		if id > 0 && !f.required[id] {
			s.fail(i, nocopy.ErrMissingRequired)
			return root + name
		}
	}
	if n := len(s.b) - i; n != 0 && !(n == signature && f.signed) {
		s.fail(i, nocopy.ErrTrailing)
		return root
	}
	f.b = s.b[:i:i]
	for g := range f.groups {
		if n := f.chunksOf(g); n != len(f.leaves) {
			s.fail(int(f.groups[g].start), fmt.Errorf("%w: %d columns in a row group, %d in the schema", ErrSchema, n, len(f.leaves)))
			return root + groupPath(g)
		}
	}
	return ""
}

// scanFields goes over the fields of the FileMetaData. It returns the index after it.
func (f *File) scanFields(s *scanner) (path string, i int) {
	for last := int16(0); ; {
		id, kind, next := s.field(i, last)
		if kind == stop { // also if the bytes are wrong
			return "", next
		}
		at := i
		last, i = id, next
		switch int(id)<<4 | int(kind) {
		case 1<<4 | i32:
			var v int64
			v, i = s.number(i, 32)
			f.version = int32(v)
		case 2<<4 | list:
			path, i = f.scanSchema(s, i)
		case 3<<4 | i64:
			f.numRows, i = s.number(i, 64)
		case 4<<4 | list:
			path, i = f.scanGroups(s, i)
		case 5<<4 | list:
			f.pairs = i
			i = s.list(i, 0)
		case 6<<4 | text:
			f.creator, i = s.bytes(i)
		case 7<<4 | list:
			f.orders = i
			i = s.list(i, 0)
		default:
			f.signed = f.signed || id == 8 && kind == record
			i = s.value(kind, i, 0)
			id = 0
		}
		if i < 0 {
			return path, bad
		}
		if id >= 1 && id <= 4 {
			if f.required[id] { // readers would see different files in it
				return "", s.fail(at, errTwice)
			}
			f.required[id] = true
		}
	}
}

var errTwice = errors.New("field comes twice")

func groupPath(g int) string { return ".row_groups[" + strconv.Itoa(g) + "]" }

func chunkPath(g, c int) string { return groupPath(g) + ".columns[" + strconv.Itoa(c) + "]" }

// NumRows returns the number of rows that the footer says.
func (f *File) NumRows() int64 { return f.numRows }

// Version returns the version of the format, 1 or 2, which mean the same.
func (f *File) Version() int32 { return f.version }

// CreatedBy returns the name of the program that wrote the file, or "".
func (f *File) CreatedBy() string { return string(f.creator) }

// Offset returns where in the file the footer begins. The data come before it.
func (f *File) Offset() int64 { return f.start }

// KeyValues yields the keys and values of the file's metadata in their order. A key may come
// twice. A key without a value has the value "". It ends before the first malformed pair, which
// Metadata reports.
func (f *File) KeyValues() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		if f.pairs == 0 {
			return
		}
		s := scanner{b: f.b}
		elem, n, i := s.listHeader(f.pairs)
		if elem != record {
			return
		}
		for range n {
			var pair [3][]byte
			for last := int16(0); ; {
				id, kind, next := s.field(i, last)
				if kind == stop {
					i = next
					break
				}
				last = id
				if kind == text && (id == 1 || id == 2) {
					pair[id], i = s.bytes(next)
				} else {
					i = s.value(kind, next, 0)
				}
			}
			if i < 0 || !yield(string(pair[1]), string(pair[2])) {
				return
			}
		}
	}
}

// KeyValue returns the first value of a key in the file's metadata, and whether there is one.
func (f *File) KeyValue(key string) (string, bool) {
	for k, v := range f.KeyValues() {
		if k == key {
			return v, true
		}
	}
	return "", false
}

// Metadata decodes all of the footer into a message of its own, which may be edited and written
// by [AppendFooter]. The error is a *[nocopy.Error], whose offset counts from the footer's
// beginning.
func (f *File) Metadata() (format.FileMetaData, error) {
	return format.ParseFileMetaData(f.b, nocopy.Compact, f.limits)
}

// part parses the struct of the footer that begins at index at. root is the name of its type, path
// that in the footer.
func part[S any](f *File, at int, parse func([]byte, ...nocopy.Option) (S, error), root, path string) (S, error) {
	s := scanner{b: f.b}
	end := s.record(at, 0)
	if end < 0 { // such as more levels than Open has counted
		var none S
		return none, &nocopy.Error{Offset: s.at, Path: "FileMetaData" + path, Err: s.err}
	}
	m, err := parse(f.b[at:end], nocopy.Compact, f.limits)
	var e *nocopy.Error
	if errors.As(err, &e) {
		err = &nocopy.Error{Offset: at + e.Offset, Path: "FileMetaData" + path + strings.TrimPrefix(e.Path, root), Err: e.Err}
	}
	return m, err
}

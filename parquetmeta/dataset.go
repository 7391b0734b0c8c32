package parquetmeta

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// Merge returns the footer of a _metadata file, which describes the files of a dataset by their
// paths: relative to its folder, with slashes. It has the row groups of all files. Everything else
// is as in the first file. [AppendFooter] writes it, after the bytes "PAR1". For a
// _common_metadata file, which has no row groups, call its NewRowGroups(0) and SetNumRows(0)
// first.
//
// The error has [ErrSchema] if there is no file, or if one has another schema, apart from the
// root's name, or other column orders than the first; [ErrOtherFile] if its chunks are in other
// files, and [ErrEncrypted] if its footer is signed. A wrong footer gives a *[nocopy.Error] that
// is wrapped. The message is the caller's.
func Merge(files iter.Seq2[string, *File]) (format.FileMetaData, error) {
	var m, none format.FileMetaData
	for name, f := range files {
		other, err := f.Metadata()
		if err != nil {
			return none, fmt.Errorf("%.200q: %w", name, err)
		}
		if other.IsSetEncryptionAlgorithm() {
			return none, fmt.Errorf("parquetmeta: %.200q is %w: its footer is signed", name, ErrEncrypted)
		}
		for _, g := range other.GetRowGroups().All() {
			for _, c := range g.GetColumns().All() {
				if c.GetFilePath() != "" {
					return none, fmt.Errorf("parquetmeta: %.200q has a chunk %w, %.200q", name, ErrOtherFile, c.GetFilePath())
				}
				c.SetFilePath(name)
			}
		}
		if !m.Valid() {
			m = other
			continue
		}
		if what := differ(m, other); what != "" {
			return none, fmt.Errorf("parquetmeta: %w: %.200q has another %s than the first file", ErrSchema, name, what)
		}
		begin := m.GetRowGroups().Len()
		for _, g := range other.GetRowGroups().All() {
			m.GetRowGroups().Append(g)
		}
		number(m.GetRowGroups(), begin)
		m.SetNumRows(m.GetNumRows() + other.GetNumRows())
	}
	if !m.Valid() {
		return none, fmt.Errorf("parquetmeta: %w: no file has one", ErrSchema)
	}
	return m, nil
}

// differ returns what differs in the schemas of two files, or "".
func differ(m, other format.FileMetaData) string {
	a, b := m.GetSchema(), other.GetSchema()
	for i, e := range a.All() {
		switch {
		case a.Len() != b.Len(), i == 0 && e.GetNumChildren() != b.At(0).GetNumChildren():
			return "number of columns"
		case i > 0 && !e.Equal(b.At(i)):
			return fmt.Sprintf("column %.200q", e.GetName())
		}
	}
	x, y := m.GetColumnOrders(), other.GetColumnOrders()
	if x.Len() != y.Len() {
		return "number of column orders"
	}
	for i, o := range x.All() {
		if !o.Equal(y.At(i)) {
			return fmt.Sprintf("order of column %d", i)
		}
	}
	return ""
}

// OpenFolder opens the files of a folder as one dataset: a File whose chunks are in other files,
// as Chunk.FilePath says. It is that of the file _metadata, if there is one. Else OpenFolder
// merges the footers of all files in the folder, and in those below, whose names end with
// .parquet. Names that begin with "." or "_" are left out. All else is as with OpenFiles.
func OpenFolder(folder fs.FS, limits ...nocopy.Limits) (*File, error) {
	if _, err := fs.Stat(folder, "_metadata"); err == nil {
		return openFile(folder, "_metadata", limits)
	}
	var names []string
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case name != "." && strings.ContainsAny(base[:1], "._"):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && strings.HasSuffix(base, ".parquet"):
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return OpenFiles(folder, names, limits...)
}

// OpenFiles opens files of a folder as one dataset: a File whose chunks are in other files, as
// Chunk.FilePath says. The files must be io.ReaderAt, as those of os.DirFS are. The errors are
// those of Open and [Merge], with the names of files; all footers together are bounded like one.
func OpenFiles(folder fs.FS, names []string, limits ...nocopy.Limits) (*File, error) {
	var wrong error
	total := int64(0)
	m, err := Merge(func(yield func(string, *File) bool) {
		for _, name := range names {
			f, err := openFile(folder, name, limits)
			if err == nil {
				if total += int64(len(f.b)); total > f.maxBytes() {
					err = fmt.Errorf("parquetmeta: footers of more than %d bytes: %w", f.maxBytes(), nocopy.ErrLimit)
				}
			}
			if wrong = err; err != nil || !yield(name, f) {
				return
			}
		}
	})
	if wrong != nil {
		return nil, wrong
	}
	if err != nil {
		return nil, err
	}
	defer m.Release()
	file, err := AppendFooter([]byte(magic), m)
	if err != nil {
		return nil, err
	}
	return Open(bytes.NewReader(file), int64(len(file)), limits...)
}

// openFile opens a file of a folder, and closes it: its File gives the footer only.
func openFile(folder fs.FS, name string, limits []nocopy.Limits) (*File, error) {
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	r, ok := file.(io.ReaderAt)
	if !ok {
		return nil, fmt.Errorf("parquetmeta: %.200q is no io.ReaderAt: open it with Open, and use Merge", name)
	}
	f, err := Open(r, info.Size(), limits...)
	if err != nil {
		return nil, fmt.Errorf("%.200q: %w", name, err)
	}
	return f, nil
}

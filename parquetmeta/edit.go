package parquetmeta

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/nocopythrift/nocopythrift/nocopy"

	"github.com/nocopythrift/nocopythrift/parquetmeta/format"
)

// SetKeyValue sets the value of a key in the file's metadata. If the key is there, its first
// pair gets the value, and further ones are removed.
func SetKeyValue(m format.FileMetaData, key, value string) {
	pairs := m.GetKeyValueMetadata()
	if !m.IsSetKeyValueMetadata() {
		pairs = m.NewKeyValueMetadata(0)
	}
	found := false
	for i := 0; i < pairs.Len(); i++ {
		pair := pairs.At(i)
		switch {
		case pair.GetKey() != key:
		case found:
			pairs.Delete(i, i+1)
			i--
		default:
			found = true
			pair.SetValue(value)
		}
	}
	if !found {
		pair := pairs.AppendNew()
		pair.SetKey(key)
		pair.SetValue(value)
	}
}

// DropRowGroup removes row group i, with its rows from the file's number of rows, and numbers the
// row groups after it anew. Its pages stay in the file, until it is written anew. It panics if
// there is no such row group.
func DropRowGroup(m format.FileMetaData, i int) {
	groups := m.GetRowGroups()
	m.SetNumRows(m.GetNumRows() - groups.At(i).GetNumRows())
	groups.Delete(i, i+1)
	number(groups, i)
}

// number sets the numbers of row groups from the one at begin on, if they have numbers.
func number(groups nocopy.StructList[format.RowGroup], begin int) {
	for i := begin; i < groups.Len(); i++ {
		switch g := groups.At(i); {
		case i > math.MaxInt16:
			g.UnsetOrdinal()
		case g.IsSetOrdinal():
			g.SetOrdinal(int16(i))
		}
	}
}

// RenameColumn gives a column or group of the schema another name: in the schema, and in the paths
// of its chunks. path is the names of the nodes from below the root to it, joined by dots; if
// several nodes have it, it is the first one. Metadata of programs under keys such as ARROW:schema
// and pandas may have names, too, and stays as it is. The error has [nocopy.ErrNotFound] if there
// is no such node, and [ErrSchema] if a node beside it has the name, or if the schema is no tree
// that the row groups fit.
func RenameColumn(m format.FileMetaData, path, name string) error {
	t := tree{schema: m.GetSchema(), next: 1}
	if !t.walk(1, 0, path, true) || t.next != t.schema.Len() {
		return fmt.Errorf("parquetmeta: %w: it is no tree", ErrSchema)
	}
	if t.node == 0 {
		return fmt.Errorf("parquetmeta: column %q: %w", path, nocopy.ErrNotFound)
	}
	for _, beside := range t.beside {
		if beside != t.node && t.schema.At(beside).GetName() == name {
			return fmt.Errorf("parquetmeta: %w: there is a column %q beside %q", ErrSchema, name, path)
		}
	}
	for i, g := range m.GetRowGroups().All() {
		if n := g.GetColumns().Len(); n != t.leaves {
			return fmt.Errorf("parquetmeta: %w: %d columns in row group %d, %d in the schema", ErrSchema, n, i, t.leaves)
		}
	}
	for _, g := range m.GetRowGroups().All() {
		for c := t.first; c < t.end; c++ {
			if d := g.GetColumns().At(c).GetMetaData(); d.GetPathInSchema().Len() >= t.depth {
				d.GetPathInSchema().Set(t.depth-1, name)
			}
		}
	}
	t.schema.At(t.node).SetName(name)
	return nil
}

// tree looks for a node in a schema.
type tree struct {
	schema       nocopy.StructList[format.SchemaElement]
	next, leaves int // nodes and columns before the place that walk is at

	node, depth int // what was found: 0 if nothing was, and the levels below the root
	first, end  int // the columns in it
	beside      []int
}

// walk goes over the children of a node, which come next, and reports whether there are as many as
// it says. path is what is looked for below the node, if below is true.
func (t *tree) walk(depth, parent int, path string, below bool) bool {
	if depth > maxSchemaDepth || parent >= t.schema.Len() {
		return false
	}
	var children []int
	found := false
	for range t.schema.At(parent).GetNumChildren() {
		k, first := t.next, t.leaves
		if k >= t.schema.Len() {
			return false
		}
		t.next++
		children = append(children, k)
		e := t.schema.At(k)
		rest, way := strings.CutPrefix(path, e.GetName())
		way = way && below
		if e.GetNumChildren() == 0 && e.IsSetType() {
			t.leaves++
		} else if !t.walk(depth+1, k, strings.TrimPrefix(rest, "."), way && strings.HasPrefix(rest, ".")) {
			return false
		}
		if way && rest == "" && t.node == 0 {
			t.node, t.depth, t.first, t.end = k, depth, first, t.leaves
			found = true
		}
	}
	if found {
		t.beside = children
	}
	return true
}

// DropStatistics removes the statistics of all column chunks: bounds and counts, histograms and
// boxes, and where column indexes are. The indexes themselves stay in the file, as do Bloom
// filters, until it is written anew.
func DropStatistics(m format.FileMetaData) {
	for _, g := range m.GetRowGroups().All() {
		for _, c := range g.GetColumns().All() {
			c.UnsetColumnIndexOffset()
			c.UnsetColumnIndexLength()
			if c.IsSetMetaData() {
				d := c.GetMetaData()
				d.UnsetStatistics()
				d.UnsetSizeStatistics()
				d.UnsetGeospatialStatistics()
			}
		}
	}
}

// AppendFooter appends a footer to dst, as it comes at the end of a file: m in the compact
// protocol, its length and the magic. Fields that this package does not know are kept. To write
// a file with another footer, copy its first [File.Offset] bytes and append the footer.
//
// The error has [ErrEncrypted] if m has an encryption algorithm, since its footer would have to be
// signed, and [nocopy.ErrMissingRequired] if a required field was never set. dst is returned as it
// was then.
func AppendFooter(dst []byte, m format.FileMetaData) ([]byte, error) {
	if m.IsSetEncryptionAlgorithm() {
		return dst, fmt.Errorf("parquetmeta: the file is %w: its footer must be signed", ErrEncrypted)
	}
	if missing := m.Message().Missing(); len(missing) > 0 {
		return dst, fmt.Errorf("parquetmeta: %s: %w", missing[0], nocopy.ErrMissingRequired)
	}
	out := m.Message().AppendCompact(dst) // less than 2 GiB, since a message has at most 1 GiB
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(out)-len(dst))), magic...), nil
}

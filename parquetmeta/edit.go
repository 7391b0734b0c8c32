package parquetmeta

import (
	"encoding/binary"
	"fmt"

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

// Messages with entries of their own index, which tests spoil.

package wireindex_test

import (
	"bytes"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wire"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/wireindex"
)

// withEntries adds an index with these entries and anchors to a message that has none.
func withEntries(data []byte, n int, entries []byte) []byte {
	b := append(bytes.Clone(data[:len(data)-1]), byte(nocopy.WireString), byte(wireindex.Header>>8&0xff), byte(wireindex.Header&0xff))
	size := uint32(len(entries) + wireindex.TrailerBytes)
	b = append(wire.AppendBE32(b, size), entries...)
	b = wireindex.AppendNumber(wireindex.AppendNumber(b, uint32(n)), uint32(len(b))+wireindex.TrailerBytes+1)
	b = append(wireindex.AppendNumber(wireindex.AppendNumber(b, size), wireindex.Version), wireindex.Magic...)
	return append(b, 0)
}

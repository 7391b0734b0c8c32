package nocopy

import (
	"fmt"
	"io"

	"github.com/nocopythrift/nocopythrift/internal/entry"
	"github.com/nocopythrift/nocopythrift/internal/memory"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/compact"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
)

// AppendCompact finishes the message and appends it to dst in Thrift's compact protocol. The bytes
// are those that Apache Thrift's Go library writes for the same fields in the same order. Unknown
// fields are included. A wire index is left out, because it fits only Thrift Binary. The result
// does not alias the message. If a message parsed with ByIndex is invalid, AppendCompact panics.
func (m *Message) AppendCompact(dst []byte) []byte {
	m.Finish()
	(*engine.Message)(m).Root().CompleteToCopy()
	w := compact.TakeWriter(m.Len())
	defer w.Free()
	m.writeCompact(w, nil)
	return append(dst, w.Bytes()...)
}

// WriteCompact finishes the message and writes the bytes of AppendCompact to w. One call of
// w.Write gets up to 64 KiB, or one larger string. WriteCompact returns the number of bytes
// written. Where Finish would panic, it writes nothing and returns the error of Check. If a
// message parsed with ByIndex is invalid, it writes nothing and returns the error of Index.
// Other errors are w's.
func (m *Message) WriteCompact(w io.Writer) (int64, error) {
	if w == nil {
		panic("nocopy: WriteCompact of a nil Writer")
	}
	if err := (*engine.Message)(m).CheckToCopy(); err != nil {
		return 0, err
	}
	written := int64(0)
	put := func(b []byte) error {
		n, err := memory.WriteAll(w, b)
		written += int64(n)
		return err
	}
	c := compact.TakeWriter(min(m.Len(), compact.PieceSize))
	defer c.Free()
	err := m.writeCompact(c, put)
	if err == nil {
		err = put(c.Bytes())
	}
	return written, err
}

// writeCompact writes the message, which is finished, to w. The error is out's.
func (m *Message) writeCompact(w *compact.Writer, out func([]byte) error) error {
	buf := engine.Buffer((*engine.Message)(m))
	b, ok := buf.Bytes()
	if !ok {
		c := memory.NewChunk(buf.Len(), true)
		defer c.Release()
		b = buf.AppendTo(c.Mem[:0])
	}
	if len(b) == 0 { // it stands for an absent struct
		return nil
	}
	err := w.Write(nil, b, entry.IndexID, out)
	if err == compact.ErrInvalid {
		panic(fmt.Sprintf("nocopy: message of type %s is %v", (*engine.Message)(m).Root().RootDesc().Name(), err))
	}
	return err
}

package compact_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/impl"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

var (
	lineDesc  = thriftimpl.NewDesc("Line")
	orderDesc = thriftimpl.NewDesc("Order")
)

func init() {
	opt := func(id int16, name string, t *thriftimpl.Type) thriftimpl.FieldDesc {
		return thriftimpl.FieldDesc{ID: id, Name: name, Type: t, Req: thriftimpl.Optional}
	}
	line, order := thriftimpl.StructOf(lineDesc), thriftimpl.StructOf(orderDesc)
	impl.Define(lineDesc, []thriftimpl.FieldDesc{
		{ID: 1, Name: "article", Type: thriftimpl.TypeString, Req: thriftimpl.Required},
		opt(2, "count", thriftimpl.TypeI32), opt(3, "small", thriftimpl.TypeI16), opt(4, "gift", thriftimpl.TypeBool),
	})
	impl.Define(orderDesc, []thriftimpl.FieldDesc{
		opt(1, "id", thriftimpl.TypeI64), opt(2, "lines", thriftimpl.ListOf(line)),
		opt(3, "counts", thriftimpl.MapOf(thriftimpl.TypeString, thriftimpl.TypeI64)), opt(4, "note", thriftimpl.TypeString),
		opt(5, "next", order), opt(6, "byLine", thriftimpl.MapOf(line, thriftimpl.TypeString)), opt(7, "bytes", thriftimpl.TypeBinary),
		opt(8, "matrix", thriftimpl.ListOf(thriftimpl.ListOf(thriftimpl.TypeI32))), opt(9, "flags", thriftimpl.ListOf(thriftimpl.TypeBool)),
		opt(10, "numbers", thriftimpl.ListOf(thriftimpl.TypeI64)), opt(11, "price", thriftimpl.TypeDouble),
	})
}

const (
	line = "\x18\x01x"          // article: "x"
	full = "\xff\xff\xff\xff"   // bytes of a varint
	long = full + full + "\xff" // 9 bytes of a varint
)

// hostile has bytes that are not an Order in the compact protocol, with the reason, path and
// offset of the error.
var hostile = []struct {
	name, bytes string
	reason      error
	path        string
	offset      int
}{
	{"nothing", "", io.ErrUnexpectedEOF, "Order", 0},
	{"no STOP", "\x16\x02", io.ErrUnexpectedEOF, "Order", 2},
	{"header only", "\x16", io.ErrUnexpectedEOF, "Order.id", 0},
	{"varint ends", "\x16\xff", io.ErrUnexpectedEOF, "Order.id", 0},
	{"varint never ends", "\x16" + long + "\xff\xff\xff\xff\x01\x00", nocopy.ErrLimit, "Order.id", 1},
	{"varint of 70 bits", "\x16" + long + "\x7f\x00", nocopy.ErrLimit, "Order.id", 1},
	{"i64 of 65 bits", "\x16" + long + "\x03\x00", nocopy.ErrLimit, "Order.id", 1},
	{"i32 of 33 bits", "\x29\x1c" + line + "\x15" + full + "\x1f\x00\x00", nocopy.ErrLimit, "Order.lines[0].count", 6},
	{"i16 of 17 bits", "\x29\x1c" + line + "\x24\xff\xff\x07\x00\x00", nocopy.ErrLimit, "Order.lines[0].small", 6},
	{"id of 17 bits", "\x06\xff\xff\x07\x02\x00", nocopy.ErrLimit, "Order", 1},
	{"id beyond 32767", "\x06\xfe\xff\x03\x02\x16\x02\x00", nocopy.ErrLimit, "Order", 5},
	{"id does not end", "\x06\xff", io.ErrUnexpectedEOF, "Order", 0},
	{"type 14", "\x1e\x00", nocopy.ErrType, "Order.id", 1},
	{"type 15", "\x1f\x00", nocopy.ErrType, "Order.id", 1},
	{"list of type 14", "\x29\x1e\x00\x00", nocopy.ErrType, "Order.lines", 1},
	{"empty list of type 15", "\x29\x0f\x00\x00", nocopy.ErrType, "Order.lines", 1},
	{"list of nothing", "\x29\x10\x00\x00", nocopy.ErrType, "Order.lines", 1},
	{"map of nothing", "\x3b\x01\x00\x00", nocopy.ErrType, "Order.counts", 2},
	{"map of type 14", "\x3b\x01\x8e\x01a\x02\x00", nocopy.ErrType, "Order.counts", 2},
	{"negative length", "\x48\xff\xff\xff\xff\x0f\x00", nocopy.ErrNegative, "Order.note", 1},
	{"length of 33 bits", "\x48\xff\xff\xff\xff\x1f\x00", nocopy.ErrLimit, "Order.note", 1},
	{"length of a gigabyte", "\x48\xff\xff\xff\xff\x03\x00", nocopy.ErrLimit, "Order.note", 1},
	{"length of a megabyte", "\x48\xff\xff\x3f\x00", io.ErrUnexpectedEOF, "Order.note", 0},
	{"negative count", "\x29\xfc\xff\xff\xff\xff\x0f\x00", nocopy.ErrNegative, "Order.lines", 2},
	{"count of two billions", "\x29\xfc\xff\xff\xff\xff\x07\x00", io.ErrUnexpectedEOF, "Order.lines", 1},
	{"negative count of pairs", "\x3b\xff\xff\xff\xff\x0f\x86\x00", nocopy.ErrNegative, "Order.counts", 1},
	{"two billion pairs", "\x3b\xff\xff\xff\xff\x07\x86\x00", io.ErrUnexpectedEOF, "Order.counts", 1},
	{"half a double", "\xb7\x01\x02\x03", io.ErrUnexpectedEOF, "Order.price", 0},
	{"second line truncated", "\x29\x2c" + line + "\x00\x18\x05ab", io.ErrUnexpectedEOF, "Order.lines[1].article", 6},
	{"second line without article", "\x29\x2c" + line + "\x00\x25\x02\x00\x00", nocopy.ErrMissingRequired, "Order.lines[1].article", 8},
	{"article without UTF-8", "\x29\x2c" + line + "\x00\x18\x03ab\xff\x00\x00", nocopy.ErrUTF8, "Order.lines[1].article", 8},
	{"key that ends", "\x3b\x02\x86\x01a\x02\x05b", io.ErrUnexpectedEOF, "Order.counts[1]", 6},
	{"value that does not end", "\x3b\x02\x86\x01a\x02\x01b" + long + "\x7f", nocopy.ErrLimit, "Order.counts[1]", 8},
	{"value in a value of a key", "\x6b\x01\xc8\x18\x7fx", io.ErrUnexpectedEOF, "Order.byLine[0].article", 3},
	{"list in a list", "\x89\x29\x15\x02\x25\x04", io.ErrUnexpectedEOF, "Order.matrix[1]", 4},
	{"unknown field", "\xc9\x1c\x1c\x16", io.ErrUnexpectedEOF, "Order.12", 3},
	{"trailing", "\x16\x02\x00\x00", nocopy.ErrTrailing, "Order", 3},
	{"deep structs", strings.Repeat("\x5c", 2000) + strings.Repeat("\x00", 2001), nocopy.ErrLimit, strings.Repeat(".next", 64), 64},
	{"deep lists", "\xc9" + strings.Repeat("\x19", 2000) + "\x00\x00", nocopy.ErrLimit, "Order.12", 66},
	{"deep maps", "\xcb" + strings.Repeat("\x01\xbb\x00", 2000), nocopy.ErrLimit, "Order.12", 193},
	{"in Thrift Binary", "\x0a\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00", nil, "", -1},
}

// TestHostileCompact: each of hostile is refused in all ways, with its reason, path and offset.
func TestHostileCompact(t *testing.T) {
	for _, c := range hostile {
		for _, w := range ways() {
			if w.lazy && (c.reason == nocopy.ErrMissingRequired || c.reason == nocopy.ErrUTF8) {
				continue // Index finds it
			}
			h, err := w.parse(orderDesc, []byte(c.bytes), nocopy.ValidUTF8)
			var bad *nocopy.Error
			switch {
			case err == nil:
				h.Release()
				t.Errorf("%s, %s: no error", w.name, c.name)
			case !errors.As(err, &bad) || c.reason != nil && !errors.Is(err, c.reason):
				t.Errorf("%s, %s: %v, want %v", w.name, c.name, err, c.reason)
			case c.reason == nil:
				if !strings.Contains(err.Error(), "Thrift Binary") {
					t.Errorf("%s, %s: %v", w.name, c.name, err)
				}
			case w.lazy && strings.HasPrefix(c.name, "deep"): // any offset is fine
			case !strings.HasSuffix(bad.Path, c.path) || c.offset >= 0 && bad.Offset != c.offset:
				t.Errorf("%s, %s: %v, want %s at %d", w.name, c.name, err, c.path, c.offset)
			}
		}
	}
}

// oneByOne is a Reader of single bytes.
type oneByOne struct{ b []byte }

func (r *oneByOne) Read(b []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	b[0] = r.b[0]
	r.b = r.b[1:]
	return 1, nil
}

package inspect_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
)

// Parts of wire bytes.

func str(s string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(s)))) + s }

func i32(v int32) string { return string(binary.BigEndian.AppendUint32(nil, uint32(v))) }

func i64(v int64) string { return string(binary.BigEndian.AppendUint64(nil, uint64(v))) }

func field(t nocopy.WireType, id int16, value string) string {
	return string(binary.BigEndian.AppendUint16([]byte{byte(t)}, uint16(id))) + value
}

const stop = "\x00"

func strict(typ byte, name string, seqid int32) string {
	return "\x80\x01\x00" + string(rune(typ)) + str(name) + i32(seqid)
}

func oldStyle(typ byte, name string, seqid int32) string {
	return str(name) + string(rune(typ)) + i32(seqid)
}

func frame(s string) string { return str(s) }

const shopIDL = `
enum Color { RED = 1, GREEN = 2 }
typedef binary Blob
struct Line { 1: required string article  2: i32 count  3: Blob raw  4: uuid key }
struct Order { 1: i64 id  2: string customer  3: list<Line> lines  4: map<string, Color> colors  5: double price  6: bool paid  7: i8 tiny  8: i16 small  9: set<i64> numbers }
typedef Order Sale
exception NotFound { 1: string why }
service Base { void ping() }
service Shop extends Base { Order get(1: i64 id) throws (1: NotFound missing)  oneway void tell(1: Order order)  i32 both() }
service Other { string both(1: string a) }
`

// loadIDL writes an IDL to a file and loads it.
func loadIDL(t testing.TB, text string) *inspect.IDL {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.thrift")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := inspect.LoadIDL(file)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dump(wire string, opt inspect.Options) (string, error) {
	var out bytes.Buffer
	err := inspect.Dump(&out, strings.NewReader(wire), opt)
	return out.String(), err
}

var line = field(nocopy.WireString, 1, str("nut")) + field(nocopy.WireI32, 2, i32(-3)) + field(nocopy.WireString, 3, str("\x00\xff")) +
	field(nocopy.WireUUID, 4, "0123456789abcdef") + stop

var sale = field(nocopy.WireI64, 1, i64(4711)) + field(nocopy.WireString, 2, str("Ada")) +
	field(nocopy.WireList, 3, "\x0c"+i32(1)+line) +
	field(nocopy.WireMap, 4, "\x0b\x08"+i32(2)+str("a")+i32(2)+str("b")+i32(9)) +
	field(nocopy.WireDouble, 5, "\x7f\xf0\x00\x00\x00\x00\x00\x00") + field(nocopy.WireBool, 6, "\x01") +
	field(nocopy.WireI8, 7, "\xff") + field(nocopy.WireI16, 8, "\xff\x00") + field(nocopy.WireSet, 9, "\x0a"+i32(1)+i64(5)) +
	field(nocopy.WireI64, 99, i64(1)) + stop

// TestDump: every type, with an IDL and without.
func TestDump(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  inspect.Options
		want string
	}{
		{"without an IDL", inspect.Options{}, `# structs
         0                                       struct
         0  0a 00 01 00 00 00 00 00 00 12 67       1: i64 4711
        11  0b 00 02 00 00 00 03 41 64 61          2: string "Ada"
        21  0f 00 03 0c 00 00 00 01                3: list<struct> of 1
        29                                           [0]: struct
        29  0b 00 01 00 00 00 03 6e 75 74              1: string "nut"
        39  08 00 02 ff ff ff fd                       2: i32 -3
        46  0b 00 03 00 00 00 02 00 ff                 3: string 0x00ff  (not UTF-8)
        55  10 00 04 30 31 32 33 34 35 36 37 38        4: uuid 30313233-3435-3637-3839-616263646566
        67  39 61 62 63 64 65 66
        74  00                                         STOP
        75  0d 00 04 0b 08 00 00 00 02             4: map<string,i32> of 2
        84  00 00 00 01 61                           [0] key: string "a"
        89  00 00 00 02                              [0] value: i32 2
        93  00 00 00 01 62                           [1] key: string "b"
        98  00 00 00 09                              [1] value: i32 9
       102  04 00 05 7f f0 00 00 00 00 00 00       5: double Infinity
       113  02 00 06 01                            6: bool true
       117  03 00 07 ff                            7: i8 -1
       121  06 00 08 ff 00                         8: i16 -256
       126  0e 00 09 0a 00 00 00 01                9: set<i64> of 1
       134  00 00 00 00 00 00 00 05                  [0]: i64 5
       142  0a 00 63 00 00 00 00 00 00 00 01       99: i64 1
       153  00                                     STOP
`},
		{"with an IDL", inspect.Options{IDL: loadIDL(t, shopIDL), Type: "Sale"}, `# structs
         0                                       Order
         0  0a 00 01 00 00 00 00 00 00 12 67       1 id: i64 4711
        11  0b 00 02 00 00 00 03 41 64 61          2 customer: string "Ada"
        21  0f 00 03 0c 00 00 00 01                3 lines: list<Line> of 1
        29                                           [0]: Line
        29  0b 00 01 00 00 00 03 6e 75 74              1 article: string "nut"
        39  08 00 02 ff ff ff fd                       2 count: i32 -3
        46  0b 00 03 00 00 00 02 00 ff                 3 raw: binary 0x00ff
        55  10 00 04 30 31 32 33 34 35 36 37 38        4 key: uuid 30313233-3435-3637-3839-616263646566
        67  39 61 62 63 64 65 66
        74  00                                         STOP
        75  0d 00 04 0b 08 00 00 00 02             4 colors: map<string,Color> of 2
        84  00 00 00 01 61                           [0] key: string "a"
        89  00 00 00 02                              [0] value: Color GREEN (2)
        93  00 00 00 01 62                           [1] key: string "b"
        98  00 00 00 09                              [1] value: Color 9
       102  04 00 05 7f f0 00 00 00 00 00 00       5 price: double Infinity
       113  02 00 06 01                            6 paid: bool true
       117  03 00 07 ff                            7 tiny: i8 -1
       121  06 00 08 ff 00                         8 small: i16 -256
       126  0e 00 09 0a 00 00 00 01                9 numbers: set<i64> of 1
       134  00 00 00 00 00 00 00 05                  [0]: i64 5
       142  0a 00 63 00 00 00 00 00 00 00 01       99: i64 1  (not in the IDL)
       153  00                                     STOP
`},
	} {
		for _, r := range []io.Reader{strings.NewReader(sale), iotest.OneByteReader(strings.NewReader(sale)), iotest.DataErrReader(strings.NewReader(sale))} {
			var out bytes.Buffer
			if err := inspect.Dump(&out, r, c.opt); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("%s:\n%s", c.name, diff)
			}
		}
	}
}

// TestForms: the form of a stream is detected, even for empty structs and truncated ones. It can
// also be given.
func TestForms(t *testing.T) {
	call, old := strict(1, "get", 7)+field(nocopy.WireI64, 1, i64(5))+stop, oldStyle(1, "get", 7)+stop
	for _, c := range []struct {
		form inspect.Form
		wire string
	}{
		{inspect.Structs, sale}, {inspect.Structs, sale + sale}, {inspect.Structs, stop}, {inspect.Structs, stop + stop + sale},
		{inspect.Structs, strings.Repeat(stop, 1000)}, {inspect.Structs, field(nocopy.WireBool, 1, "\x01") + stop},
		{inspect.Messages, call}, {inspect.Messages, call + old + call}, {inspect.Messages, old}, {inspect.Messages, old + old + call},
		{inspect.Messages, oldStyle(4, strings.Repeat("n", 300), 1) + stop}, {inspect.Messages, oldStyle(1, "", 1) + stop},
		{inspect.FramedMessages, frame(call)}, {inspect.FramedMessages, frame(old)}, {inspect.FramedMessages, frame(call+old) + frame(old)},
		{inspect.FramedMessages, frame(strings.TrimSuffix(call, stop) + field(nocopy.WireString, 2, str(strings.Repeat("x", 1<<20))) + stop)},
		{inspect.FramedMessages, frame(old[:len(old)-1] + field(nocopy.WireString, 2, str(strings.Repeat("x", 1<<20))) + stop)},
		{inspect.FramedStructs, frame(sale)}, {inspect.FramedStructs, frame(stop)}, {inspect.FramedStructs, frame(sale) + frame(stop) + frame(sale)},
		{inspect.FramedStructs, frame(strings.TrimSuffix(sale, stop) + field(nocopy.WireString, 200, str(strings.Repeat("x", 1<<20))) + stop)},
	} {
		heading := "# " + c.form.String() + "s"
		text, err := dump(c.wire, inspect.Options{})
		if err != nil || !strings.HasPrefix(text, heading) {
			t.Errorf("%.40q is %.40q (%v), not %v", c.wire, text, err, c.form)
		}
		if text, err := dump(c.wire, inspect.Options{Form: c.form}); err != nil || !strings.HasPrefix(text, heading) {
			t.Errorf("%.40q as %v: %.40q (%v)", c.wire, c.form, text, err)
		}
		for n := 12; n < len(c.wire) && len(c.wire) < 1000; n++ {
			if text, _ := dump(c.wire[:n], inspect.Options{}); !strings.HasPrefix(text, heading) {
				t.Errorf("the first %d bytes of %.40q are %.40q, not %v", n, c.wire, text, c.form)
			}
		}
	}
	if text, err := dump("", inspect.Options{}); text != "" || err != nil {
		t.Errorf("no bytes: %q, %v", text, err)
	}
	for _, foreign := range []string{"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00"} {
		if text, err := dump(foreign, inspect.Options{}); err == nil || !strings.Contains(text, "not Thrift") {
			t.Errorf("%q: %v\n%s", foreign, err, text)
		}
	}
}

// TestMethods: the method in the header determines the struct of a message.
func TestMethods(t *testing.T) {
	shop := loadIDL(t, shopIDL)
	reply := field(nocopy.WireStruct, 0, sale) + stop
	for _, c := range []struct{ typ, wire, want string }{
		{"", strict(1, "get", 1) + field(nocopy.WireI64, 1, i64(5)) + stop, `1 id: i64 5`},
		{"", oldStyle(1, "get", 1) + field(nocopy.WireI64, 1, i64(5)) + stop, `1 id: i64 5`},
		{"", strict(2, "get", 1) + reply, `0 success: Order`},
		{"", strict(2, "get", 1) + field(nocopy.WireStruct, 1, field(nocopy.WireString, 1, str("gone"))+stop) + stop, `1 why: string "gone"`},
		{"", strict(3, "get", 1) + field(nocopy.WireString, 1, str("oh")) + field(nocopy.WireI32, 2, i32(6)) + stop, `INTERNAL_ERROR (6)`},
		{"", strict(4, "tell", 1) + field(nocopy.WireStruct, 1, sale) + stop, `1 order: Order`},
		{"", strict(1, "Shop:get", 1) + field(nocopy.WireI64, 1, i64(5)) + stop, `1 id: i64 5`},
		{"", strict(1, "Shop:ping", 1) + stop, `message: call "Shop:ping"`},
		{"", strict(1, "both", 1) + stop, `(a method of Shop and of Other: which service is meant?)`},
		{"Other", strict(1, "both", 1) + field(nocopy.WireString, 1, str("x")) + stop, `1 a: string "x"`},
		{"Shop", strict(2, "both", 1) + field(nocopy.WireI32, 0, i32(3)) + stop, `0 success: i32 3`},
		{"Shop", strict(1, "ping", 1) + stop, `call "ping", sequence id 1` + "\n"},
		{"Other", strict(1, "get", 1) + stop, `(no such method in the IDL)`},
		{"", strict(1, "No:get", 1) + stop, `(the IDL has no service of this name)`},
		{"", strict(2, "tell", 1) + stop, `(a reply to a oneway method)`},
	} {
		for _, wire := range []string{c.wire, frame(c.wire)} {
			text, err := dump(wire, inspect.Options{IDL: shop, Type: c.typ})
			if err != nil || !strings.Contains(text, c.want) {
				t.Errorf("%q: no %q in (%v)\n%s", wire, c.want, err, text)
			}
		}
	}
	if _, err := dump(sale, inspect.Options{IDL: shop, Type: "Nothing"}); err == nil || !strings.Contains(err.Error(), "Order") {
		t.Errorf("an unknown type: %v", err)
	}
	if _, err := dump(sale, inspect.Options{Type: "Order"}); err == nil {
		t.Error("a type without an IDL is no error")
	}
	if _, err := inspect.LoadIDL("nowhere.thrift"); err == nil {
		t.Error("a file that there is not is no error")
	}
}

// TestMalformed: the dump ends at the fault, with its offset, path and reason. The part of the
// value before the fault has its row.
func TestMalformed(t *testing.T) {
	shop := inspect.Options{IDL: loadIDL(t, shopIDL), Type: "Order"}
	framed := shop
	framed.Form = inspect.FramedStructs
	for _, c := range []struct {
		name, wire string
		opt        inspect.Options
		offset     int
		path       string
		is         error
		row        string // the last one before the fault
	}{
		{"half a field header", "\x0a\x00", shop, 2, "Order", io.ErrUnexpectedEOF, "0a 00"},
		{"half a number", "\x0a\x00\x01\x00\x00", shop, 5, "Order.id", io.ErrUnexpectedEOF, "1 id: i64"},
		{"a text that is cut", field(nocopy.WireString, 2, i32(10)+"abc"), shop, 10, "Order.customer", io.ErrUnexpectedEOF, `2 customer: string "abc"… 10 bytes`},
		{"a negative length", field(nocopy.WireString, 2, i32(-1)), shop, 3, "Order.customer", nocopy.ErrNegative, "2 customer: string"},
		{"a negative count", field(nocopy.WireList, 3, "\x0c"+i32(-7)), shop, 4, "Order.lines", nocopy.ErrNegative, "3 lines: list<Line>"},
		{"no such type", "\x0a\x00\x01" + i64(1) + "\x07\x00\x02", shop, 11, "Order", nocopy.ErrType, "07"},
		{"no such element type", field(nocopy.WireList, 50, "\x05"+i32(1)), shop, 3, "Order.50", nocopy.ErrType, "50: list"},
		{"no such value type", field(nocopy.WireMap, 50, "\x08\x01"+i32(1)), shop, 4, "Order.50", nocopy.ErrType, "50: map"},
		{"too few elements", field(nocopy.WireList, 3, "\x0c"+i32(1<<30)+line), shop, 8 + len(line), "Order.lines[1]", io.ErrUnexpectedEOF, "[1]: Line"},
		{"a required field", field(nocopy.WireList, 3, "\x0c"+i32(1)+stop) + stop, shop, 8, "Order.lines[0].article", nocopy.ErrMissingRequired, "STOP"},
		{"a short frame", i32(5) + sale, framed, 9, "Order.id", io.ErrUnexpectedEOF, "1 id: i64"},
		{"a long frame", i32(500) + stop + stop, framed, 5, "Order", nocopy.ErrTrailing, "STOP"},
		{"a frame that is cut", i32(500) + field(nocopy.WireI64, 1, i64(1)), framed, 15, "Order", io.ErrUnexpectedEOF, "1 id: i64 1"},
		{"an empty frame", i32(0) + frame(stop), framed, 4, "Order", io.ErrUnexpectedEOF, "Order"},
		{"a frame of negative length", i32(-1), framed, 0, "", nocopy.ErrNegative, "frame"},
		{"half a frame's length", "\x00\x00\x01", framed, 3, "", io.ErrUnexpectedEOF, "frame"},
		{"an endless name", i32(1<<30) + "get", inspect.Options{Form: inspect.Messages}, 0, "", nocopy.ErrLimit, "message"},
		{"another version", "\x80\x02\x00\x01", inspect.Options{Form: inspect.Messages}, 0, "", nil, "message"},
		{"no such message type", strict(9, "get", 1), inspect.Options{}, 3, "", nil, "message"},
		{"no such message type, old style", oldStyle(9, "get", 1), inspect.Options{}, 7, "", nil, `message`},
	} {
		text, err := dump(c.wire, c.opt)
		var fault *nocopy.Error
		if !errors.As(err, &fault) || fault.Offset != c.offset || fault.Path != c.path || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v\n%s", c.name, err, text)
			continue
		}
		before, after, found := strings.Cut(text, "FAULT at offset "+fmt.Sprint(c.offset))
		if !found || !strings.Contains(after, fault.Err.Error()) || !strings.Contains(after, c.path) {
			t.Errorf("%s: the fault is not in\n%s", c.name, text)
		}
		if rows := strings.Split(before, "\n"); len(rows) < 2 || !strings.Contains(rows[len(rows)-2], c.row) {
			t.Errorf("%s: the row before the fault is not %q:\n%s", c.name, c.row, text)
		}
		var objects bytes.Buffer
		c.opt.JSON = true
		inspect.Dump(&objects, strings.NewReader(c.wire), c.opt)
		if last := fmt.Sprintf(`{"offset":%d,"size":0,"kind":"fault"`, c.offset); !strings.Contains(objects.String(), last) {
			t.Errorf("%s: no %s in\n%s", c.name, last, objects.String())
		}
	}
}

// TestHostile: lengths, counts and nesting far beyond the bytes cost neither time nor memory, and
// the size of the dump is bounded by a multiple of the input.
func TestHostile(t *testing.T) {
	deep := strings.Repeat("\x0c\x00\x01", 50_000)
	for name, wire := range map[string]string{
		"a list of 2 G structs":     field(nocopy.WireList, 1, "\x0c\x7f\xff\xff\xff"),
		"a map of 2 G pairs":        field(nocopy.WireMap, 1, "\x0b\x0b\x7f\xff\xff\xff"),
		"a string of 2 GB":          field(nocopy.WireString, 1, "\x7f\xff\xff\xff"),
		"a frame of 2 GB":           "\x7f\xff\xff\xff" + strict(1, "x", 1),
		"50,000 nested structs":     deep,
		"50,000 nested lists":       "\x0f\x00\x01" + strings.Repeat("\x0f\x00\x00\x00\x01", 50_000),
		"booleans deep down":        deep[:3*9000] + field(nocopy.WireList, 1, "\x02"+i32(1_000_000)+strings.Repeat("\x01", 20_000)),
		"zeros":                     strings.Repeat(stop, 20_000),
		"ones":                      strings.Repeat("\x01", 20_000),
		"frames of nothing":         strings.Repeat(i32(0), 20_000),
		"a name of 16 MB":           i32(16<<20) + strings.Repeat("n", 1<<20),
		"binary that is not shown":  field(nocopy.WireString, 1, str(strings.Repeat("\xff", 1<<20))) + stop,
		"a text that is cut inside": field(nocopy.WireString, 1, str(strings.Repeat("é", 1000))) + stop,
	} {
		for form := inspect.Auto; form <= inspect.FramedMessages; form++ {
			for _, json := range []bool{false, true} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				var size counter
				inspect.Dump(&size, strings.NewReader(wire), inspect.Options{Form: form, JSON: json})
				runtime.ReadMemStats(&after)
				if most := 100_000 + 700*len(wire); int(size) > most {
					t.Errorf("%s (%v, JSON %v): a dump of %d bytes of %d", name, form, json, size, len(wire))
				}
				if n := after.TotalAlloc - before.TotalAlloc; n > uint64(128<<20+2000*len(wire)) {
					t.Errorf("%s (%v, JSON %v): %d bytes allocated", name, form, json, n)
				}
			}
		}
	}
	_, err := dump(deep, inspect.Options{})
	if !errors.Is(err, nocopy.ErrLimit) {
		t.Errorf("50,000 structs: %v", err)
	}
}

type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// TestStreamed: a stream of 256 MB takes no more memory than a small one.
func TestStreamed(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	one := field(nocopy.WireString, 1, str(text)) + stop
	var readers []io.Reader
	for range 256 {
		readers = append(readers, strings.NewReader(frame(one)))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := inspect.Dump(io.Discard, io.MultiReader(readers...), inspect.Options{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

// TestTerminal: no input makes a dump that can control a terminal.
func TestTerminal(t *testing.T) {
	evil := "\x1b[2J\x07\r\n\x7f\u009b31m\u202e\u2028\U000e0041é"
	wire := strict(1, evil, 1) + field(nocopy.WireString, 1, str(evil)) + field(nocopy.WireString, 2, str(evil+"\xff")) + stop
	for _, w := range []string{wire, frame(wire), sale + evil, oldStyle(1, evil, 1)} {
		for form := inspect.Auto; form <= inspect.FramedMessages; form++ {
			for _, json := range []bool{false, true} {
				text, _ := dump(w, inspect.Options{Form: form, JSON: json})
				checkHarmless(t, text)
			}
		}
	}
	text, err := dump(wire, inspect.Options{JSON: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		var row struct{ Value, Name any }
		if err := json.Unmarshal([]byte(l), &row); err != nil {
			t.Errorf("%v: %s", err, l)
		}
		if row.Value != nil && row.Value != evil || row.Name != nil && row.Name != evil {
			t.Errorf("%q is not what was sent: %s", row, l)
		}
	}
}

func checkHarmless(t testing.TB, text string) {
	t.Helper()
	for i, c := range text {
		if c != '\n' && !unicode.IsPrint(c) {
			t.Fatalf("%q at %d in %.300q", c, i, text)
		}
	}
}

// TestColor: colours are there when asked for, and only then.
func TestColor(t *testing.T) {
	with, err := dump(sale, inspect.Options{Color: true})
	if err != nil || !strings.Contains(with, "\x1b[") {
		t.Errorf("no colours: %v", err)
	}
	without, _ := dump(sale, inspect.Options{})
	var b strings.Builder
	for i, part := range strings.Split(with, "\x1b[") {
		if _, rest, ok := strings.Cut(part, "m"); ok && i > 0 {
			part = rest
		}
		b.WriteString(part)
	}
	if diff := cmp.Diff(without, b.String()); diff != "" {
		t.Errorf("without its colours it is another dump:\n%s", diff)
	}
}

// TestMaxText: long texts are shortened after a whole character, or not at all.
func TestMaxText(t *testing.T) {
	wire := field(nocopy.WireString, 1, str(strings.Repeat("é", 50))) + stop
	for _, c := range []struct {
		max  int
		want string
	}{
		{0, `string "` + strings.Repeat("é", 32) + `"… 100 bytes`},
		{3, `string "é"… 100 bytes`},
		{100, `string "` + strings.Repeat("é", 50) + `"` + "\n"},
		{-1, `string "` + strings.Repeat("é", 50) + `"` + "\n"},
	} {
		if text, err := dump(wire, inspect.Options{MaxText: c.max}); err != nil || !strings.Contains(text, c.want) {
			t.Errorf("of %d bytes: no %q in (%v)\n%s", c.max, c.want, err, text)
		}
	}
}

// TestErrors: errors of Reader and Writer are returned unchanged, and bytes that were read before
// are dumped.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	for n := 1; n < len(sale); n++ {
		var out bytes.Buffer
		err := inspect.Dump(&out, io.MultiReader(strings.NewReader(sale[:n]), iotest.ErrReader(broken)), inspect.Options{})
		if err != broken || n > 11 && !strings.Contains(out.String(), "1: i64 4711") {
			t.Fatalf("after %d bytes: %v\n%s", n, err, out.String())
		}
	}
	if err := inspect.Dump(failing{broken}, strings.NewReader(sale), inspect.Options{}); err != broken {
		t.Errorf("the Writer's error: %v", err)
	}
	if err := inspect.Dump(io.Discard, iotest.ErrReader(broken), inspect.Options{}); err != broken {
		t.Errorf("the Reader's error: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// FuzzDump: any bytes in any form give a harmless dump of bounded size, and each line of JSON is
// an object.
func FuzzDump(f *testing.F) {
	shop := loadIDL(f, shopIDL)
	for _, s := range []string{sale, frame(sale), strict(2, "get", 1) + field(nocopy.WireStruct, 0, sale) + stop, frame(oldStyle(1, "tell", 1) + stop), "GET / HTTP/1.1"} {
		for form := range 5 {
			f.Add([]byte(s), uint8(form))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, form uint8) {
		opt := inspect.Options{Form: inspect.Form(form % 5)}
		if form >= 128 {
			opt.IDL, opt.Type = shop, "Order"
		}
		text, err := dump(string(b), opt)
		checkHarmless(t, text)
		if len(text) > 1000+700*len(b) {
			t.Errorf("%d bytes of %d", len(text), len(b))
		}
		opt.JSON = true
		text, errOfJSON := dump(string(b), opt)
		checkHarmless(t, text)
		if fmt.Sprint(err) != fmt.Sprint(errOfJSON) {
			t.Errorf("as text %v, as JSON %v", err, errOfJSON)
		}
		for l := range strings.Lines(text) {
			var row map[string]any
			if err := json.Unmarshal([]byte(l), &row); err != nil {
				t.Errorf("%v: %s", err, l)
			}
		}
	})
}

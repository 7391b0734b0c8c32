// Parts of hostile messages, which tests put together.

package limits_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/index"
)

// mostIndex is how many bytes the index of a message of n may have, which is less on 32 bits.
func mostIndex(n int) string { return itoa(int(min(64*int64(n)+16<<20, 4*int64(index.MaxWords)))) }

// A hostileCase is a message that an attacker may send: its name, its bytes, the error ("" if it
// is accepted), and the number of bytes that Parse may allocate in all, starting with empty pools.
// This is also a bound of the peak.
type hostileCase struct {
	what, sent, err string
	peak            int
	opts            []engine.Option
}

// hostileInput returns all cases, of some 20 MB, in the long form 80 MB.
func hostileInput() []hostileCase {
	many := testmode.Of(100_000, 400_000)
	if raceEnabled {
		many = 20_000
	}
	veryMany := 10 * many
	return []hostileCase{
		{"nothing", "", "nocopy: All: offset 0: no bytes: unexpected EOF", 8 << 10, nil},
		{"a STOP", stop, "", 8 << 10, nil},
		{"bytes after the end", stop + "x", "nocopy: All: offset 1: bytes after the end of the message", 8 << 10, nil},
		{"a whole message after the end", stop + stop, "nocopy: All: offset 1: bytes after the end of the message", 8 << 10, nil},
		{"no STOP", "\x02\x00\x01\x01", "nocopy: All: offset 4: unexpected EOF", 8 << 10, nil},
		{"a string of −1", textField + minusOne + stop, "nocopy: All.text: offset 3: negative length", 8 << 10, nil},
		{"a string of −2147483648", textField + minInt + stop, "nocopy: All.text: offset 3: negative length", 8 << 10, nil},
		{"a string of 2147483647", textField + maxInt + stop, "nocopy: All.text: offset 8: unexpected EOF", 8 << 10, nil},
		{"a string of one more than is left", textField + two + stop, "nocopy: All.text: offset 8: unexpected EOF", 8 << 10, nil},
		{"a string that takes the STOP", textField + one + stop, "nocopy: All: offset 8: unexpected EOF", 8 << 10, nil},
		{"a binary of −1", blobField + minusOne + stop, "nocopy: All.blob: offset 3: negative length", 8 << 10, nil},
		{"a binary of 2147483647", blobField + maxInt + stop, "nocopy: All.blob: offset 8: unexpected EOF", 8 << 10, nil},
		{"a binary of 100 MiB in 20 bytes", blobField + million100 + times(13, "x"), "nocopy: All.blob: offset 20: unexpected EOF", 8 << 10, nil},
		{"a list of −1", numbers + minusOne + stop, "nocopy: All.numbers: offset 4: negative length", 8 << 10, nil},
		{"a list of −2147483648", numbers + minInt + stop, "nocopy: All.numbers: offset 4: negative length", 8 << 10, nil},
		{"a list of 2147483647", numbers + maxInt + stop, "nocopy: All.numbers: offset 9: unexpected EOF", 8 << 10, nil},
		{"a list of one more than is left", numbers + two + times(15, "x") + stop, "nocopy: All: offset 24: unexpected EOF", 8 << 10, nil},
		{"a list of 100 Mi numbers in 20 bytes", numbers + million100 + times(12, "x"), "nocopy: All.numbers: offset 20: unexpected EOF", 8 << 10, nil},
		{"a list of 100 Mi bools in 20 bytes", flags + million100 + times(12, "x"), "nocopy: All.flags: offset 20: unexpected EOF", 8 << 10, nil},
		{"a list of 2147483647 strings", words + maxInt + stop, "nocopy: All.words: offset 9: unexpected EOF", 8 << 10, nil},
		{"a list of one more string than is left", words + two + times(7, "\x00"), "nocopy: All.words: offset 15: unexpected EOF", 8 << 10, nil},
		{"an element of −1", words + two + one + "a" + minusOne + stop, "nocopy: All.words[1]: offset 13: negative length", 8 << 10, nil},
		{"an element of 2147483647", words + two + one + "a" + maxInt + stop, "nocopy: All.words[1]: offset 18: unexpected EOF", 8 << 10, nil},
		{"a list of 2147483647 structs", points + maxInt + stop, "nocopy: All.points: offset 9: unexpected EOF", 8 << 10, nil},
		{"a list of one more struct than is left", points + two + stop, "nocopy: All.points: offset 9: unexpected EOF", 8 << 10, nil},
		{"a list of 2147483647 lists", matrix + maxInt + stop, "nocopy: All.matrix: offset 9: unexpected EOF", 8 << 10, nil},
		{"an inner list of −1", matrix + one + "\x08" + minusOne + stop, "nocopy: All.matrix[0]: offset 9: negative length", 8 << 10, nil},
		{"an inner list of 2147483647", matrix + one + "\x08" + maxInt + stop, "nocopy: All.matrix[0]: offset 14: unexpected EOF", 8 << 10, nil},
		{"a set of −1", unique + minusOne + stop, "nocopy: All.unique: offset 4: negative length", 8 << 10, nil},
		{"a set of −2147483648", unique + minInt + stop, "nocopy: All.unique: offset 4: negative length", 8 << 10, nil},
		{"a set of 2147483647", unique + maxInt + stop, "nocopy: All.unique: offset 9: unexpected EOF", 8 << 10, nil},
		{"a set of one more than is left", unique + two + times(7, "x"), "nocopy: All.unique: offset 15: unexpected EOF", 8 << 10, nil},
		{"a set of strings, one of −1", tags + one + minusOne + stop, "nocopy: All.tags[0]: offset 8: negative length", 8 << 10, nil},
		{"a map of −1", counts + minusOne + stop, "nocopy: All.counts: offset 5: negative length", 8 << 10, nil},
		{"a map of −2147483648", counts + minInt + stop, "nocopy: All.counts: offset 5: negative length", 8 << 10, nil},
		{"a map of 2147483647", counts + maxInt + stop, "nocopy: All.counts: offset 10: unexpected EOF", 8 << 10, nil},
		{"a map of one more than is left", pairs + two + "\x01\x01\x00", "nocopy: All.pairs: offset 12: unexpected EOF", 8 << 10, nil},
		{"a key of −1", counts + one + minusOne + times(8, "x") + stop, "nocopy: All.counts[0]: offset 9: negative length", 8 << 10, nil},
		{"a key of 2147483647", counts + one + maxInt + times(8, "x") + stop, "nocopy: All.counts[0]: offset 22: unexpected EOF", 8 << 10, nil},
		{"a map in a map of −1", mapOfMaps + one + times(8, "x") + "\x0b\x08" + minusOne + stop, "nocopy: All.nested[0]: offset 19: negative length", 8 << 10, nil},
		{"a map in a map of 2147483647", mapOfMaps + one + times(8, "x") + "\x0b\x08" + maxInt + stop, "nocopy: All.nested[0]: offset 24: unexpected EOF", 8 << 10, nil},
		{"an unknown string of −1", unkText + minusOne + stop, "nocopy: All.100: offset 3: negative length", 8 << 10, nil},
		{"an unknown string of 2147483647", unkText + maxInt + stop, "nocopy: All.100: offset 8: unexpected EOF", 8 << 10, nil},
		{"an unknown list of −1", unkList + "\x0a" + minusOne + stop, "nocopy: All.100: offset 4: negative length", 8 << 10, nil},
		{"an unknown list of 2147483647", unkList + "\x0a" + maxInt + stop, "nocopy: All.100: offset 9: unexpected EOF", 8 << 10, nil},
		{"an unknown map of −1", unkMap + "\x08\x08" + minusOne + stop, "nocopy: All.100: offset 5: negative length", 8 << 10, nil},
		{"an unknown map of 2147483647", unkMap + "\x08\x08" + maxInt + stop, "nocopy: All.100: offset 10: unexpected EOF", 8 << 10, nil},
		{"64 structs in each other", structs(64), "", 128 << 10, nil},
		{"65 structs in each other", structs(65), "nocopy: All" + times(64, ".self") + ": offset 192: limit exceeded: nested deeper than Limits.MaxDepth = 64", 128 << 10, nil},
		{"many structs in each other", times(many, self), "nocopy: All" + times(64, ".self") + ": offset 192: limit exceeded: nested deeper than Limits.MaxDepth = 64", 128 << 10, nil},
		{"many structs in each other through lists", times(many, children+one), "nocopy: All" + times(64, ".children[0]") + ": offset 512: limit exceeded: nested deeper than Limits.MaxDepth = 64", 128 << 10, nil},
		{"many structs in each other through maps", times(many, named+one+one+"k"), "nocopy: All" + times(64, ".named[0]") + ": offset 896: limit exceeded: nested deeper than Limits.MaxDepth = 64", 128 << 10, nil},
		{"many unknown structs in each other", times(many, unkStruct), "nocopy: All.100: offset 195: limit exceeded: nested deeper than Limits.MaxDepth = 64", 8 << 10, nil},
		{"many unknown lists in each other", unkList + times(many, "\x0f"+one), "nocopy: All.100: offset 328: limit exceeded: nested deeper than Limits.MaxDepth = 64", 8 << 10, nil},
		{"many unknown sets in each other", "\x0e\x00\x64" + times(many, "\x0e"+one), "nocopy: All.100: offset 328: limit exceeded: nested deeper than Limits.MaxDepth = 64", 8 << 10, nil},
		{"many unknown maps in each other", unkMap + times(many, "\x08\x0d"+one+one), "nocopy: All.100: offset 649: limit exceeded: nested deeper than Limits.MaxDepth = 64", 8 << 10, nil},
		{"many unknown maps in the keys of each other", unkMap + times(many, "\x0d\x08"+one), "nocopy: All.100: offset 393: limit exceeded: nested deeper than Limits.MaxDepth = 64", 8 << 10, nil},
		{"very many empty structs of 2 fields", points + be(veryMany) + times(veryMany, stop) + stop, "", 18 * veryMany, nil},
		{"very many empty structs in a set", grown + be(veryMany) + times(veryMany, stop) + stop, "", 18 * veryMany, nil},
		{"very many empty structs of 43 fields", children + be(veryMany) + times(veryMany, stop) + stop, "nocopy: All.children: offset 0: limit exceeded: index of more than Limits.MaxIndex = " + mostIndex(veryMany+9) + " bytes", 8 << 10, nil},
		{"very many empty structs of 250 fields", wide + be(veryMany) + times(veryMany, stop) + stop, "nocopy: All.wide: offset 0: limit exceeded: index of more than Limits.MaxIndex = " + mostIndex(veryMany+9) + " bytes", 8 << 10, nil},
		{"very many structs of 43 fields and a bool each", children + be(veryMany) + times(veryMany, "\x02\x00\x01\x01"+stop) + stop, "", 220 * veryMany, nil},
		{"very many unknown empty structs", unkList + "\x0c" + be(veryMany) + times(veryMany, stop) + stop, "", 8 << 10, nil},
		{"many empty lists in a list", matrix + be(many) + times(many, "\x08"+none) + stop, "", 90 * many, nil},
		{"many empty lists of structs in a list", forest + be(many) + times(many, "\x0c"+none) + stop, "", 90 * many, nil},
		{"a map of many empty maps", mapOfMaps + be(many) + times(many, "\x00\x00\x00\x00\x00\x00\x00\x00\x0b\x08"+none) + stop, "", 110 * many, nil},
		{"a map of many structs as keys", byPoint + be(many) + times(many, stop+none) + stop, "", 90 * many, nil},
		{"one key, many times", pairs + be(many) + times(many, "\x01\x01") + stop, "", 40 * many, nil},
		{"one field, many times", times(many, "\x02\x00\x01\x01") + stop, "", 100 * many, nil},
		{"one struct, many times", times(many, "\x0c\x00\x0b\x00") + stop, "", 150 * many, nil},
		{"many unknown fields", times(many, "\x02\x00\x64\x01") + stop, "", 8 << 10, nil},
		{"an unknown field of id 32767", "\x03\x7f\xfe\x01" + stop, "", 8 << 10, nil},
		{"an unknown field of id −32768", "\x0a\x80\x00" + times(8, "\x01") + stop, "", 8 << 10, nil},
		{"a known field of id 32767", "\x08\x7f\xff" + one + stop, "", 8 << 10, nil},
		{"a known field of id −32768", "\x08\x80\x00" + one + stop, "", 8 << 10, nil},
		{"a field of type 1", "\x01\x00\x01" + stop, "nocopy: All: offset 0: no such wire type: 1", 8 << 10, nil},
		{"a field of type 17", "\x11\x00\x01" + stop, "nocopy: All: offset 0: no such wire type: 17", 8 << 10, nil},
		{"a field of type 255", "\xff\x00\x01" + stop, "nocopy: All: offset 0: no such wire type: 255", 8 << 10, nil},
		{"elements of type 0", "\x0f\x00\x0d\x00" + one + stop, "nocopy: All.numbers: offset 3: no such wire type: 0", 8 << 10, nil},
		{"elements of type 255", "\x0f\x00\x0d\xff" + one + stop, "nocopy: All.numbers: offset 3: no such wire type: 255", 8 << 10, nil},
		{"keys of type 5", "\x0d\x00\x10\x05\x0a" + one + stop, "nocopy: All.counts: offset 3: no such wire type: 5", 8 << 10, nil},
		{"values of type 5", "\x0d\x00\x10\x0b\x05" + one + stop, "nocopy: All.counts: offset 4: no such wire type: 5", 8 << 10, nil},
		{"elements of type 255, but none", "\x0f\x00\x0d\xff" + none + stop, "", 8 << 10, nil},
		{"elements of another type: unknown", "\x0f\x00\x0d\x08" + one + one + stop, "", 8 << 10, nil},
		{"elements of another type, too many", "\x0f\x00\x0d\x08" + two + one + stop, "nocopy: All.numbers: offset 13: unexpected EOF", 8 << 10, nil},
		{"elements of another type, two lists down", "\x0f\x00\x12\x0f" + one + "\x0a" + one + times(8, "x") + stop, "", 8 << 10, nil},
		{"a field of another type: unknown", "\x08\x00\x07" + one + stop, "", 8 << 10, nil},
		{"a bool of 2", "\x02\x00\x01\x02" + stop, "", 8 << 10, nil},
		{"a bool of 255, in a list", flags + one + "\xff" + stop, "", 8 << 10, nil},
		{"a string that is not UTF-8", textField + two + "\xc3\x28" + stop, "", 8 << 10, nil},
		{"a string that is not UTF-8, ValidUTF8", textField + two + "\xc3\x28" + stop, "nocopy: All.text: offset 7: string is not UTF-8", 8 << 10, []engine.Option{engine.ValidUTF8}},
		{"a key that is not UTF-8, ValidUTF8", counts + one + one + "\xff" + times(8, "\x00") + stop, "nocopy: All.counts[0]: offset 13: string is not UTF-8", 8 << 10, []engine.Option{engine.ValidUTF8}},
		{"a binary that is not UTF-8, ValidUTF8", blobField + two + "\xc3\x28" + stop, "", 8 << 10, []engine.Option{engine.ValidUTF8}},
		{"a field twice", textField + one + "a" + textField + one + "b" + stop, "", 8 << 10, nil},
		{"a struct twice", "\x0c\x00\x0b\x00\x0c\x00\x0b\x00" + stop, "", 8 << 10, nil},
		{"a key twice", counts + two + one + "k" + times(8, "\x01") + one + "k" + times(8, "\x02") + stop, "", 8 << 10, nil},
		{"more than MaxBytes", textField + be(993) + times(993, "x") + stop, "nocopy: All: offset 0: limit exceeded: message of 1001 bytes, more than Limits.MaxBytes = 1000", 8 << 10, []engine.Option{engine.Limits{MaxBytes: 1000}}},
		{"deeper than MaxDepth", structs(4), "nocopy: All.self.self.self: offset 9: limit exceeded: nested deeper than Limits.MaxDepth = 3", 8 << 10, []engine.Option{engine.Limits{MaxDepth: 3}}},
		{"more index than MaxIndex", numbers + none + groups + none + stop, "nocopy: All.numbers: offset 0: limit exceeded: index of more than Limits.MaxIndex = 200 bytes", 8 << 10, []engine.Option{engine.Limits{MaxIndex: 4 * 50}}},
		{"MaxIndex that is no number of words", numbers + none + groups + none + stop, "nocopy: All: offset 0: limit exceeded: index of more than Limits.MaxIndex = 10 bytes", 8 << 10, []engine.Option{engine.Limits{MaxIndex: 10}}},
	}
}

// TestHostileInput: a hostile message costs memory and time in proportion to its bytes, whatever
// its lengths and counts promise. With -v the test prints a table of the cost of each case.
func TestHostileInput(t *testing.T) {
	cases := hostileInput()
	if len(cases) < 60 {
		t.Errorf("only %d cases", len(cases))
	}
	mustParse(t, allDesc, []byte{0}).Release() // compiles the type, once in a process
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\nwhat is sent\tbytes\terror\tallocated\ttime")
	for i, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			wire := []byte(c.sent)
			ways := []way{inOnePiece, with(inOnePiece, engine.Lazy, "lazy"), cutAt(len(wire) / 2)}
			if !testmode.Long {
				ways = append(ways[:1], ways[1+i%2])
			}
			for _, w := range ways {
				var err error
				var took time.Duration
				parse := func() {
					start := time.Now()
					s, parseErr := w.Parse(allDesc, wire, c.opts...)
					if err = parseErr; err == nil {
						if err = s.Message().Index(); err == nil {
							s.Release()
						}
					}
					took = time.Since(start)
				}
				// The whole process is measured, with the runtime's goroutines, and the time on a machine
				// that may be busy. Each allocated calls the collector: it is called where there is a
				// limit only.
				got, most := 0, time.Second+time.Duration(len(wire))*time.Microsecond
				measured := w.Name == inOnePiece.Name
				for again := 0; again == 0 || again < 3 && (got > c.peak || took > most); again++ {
					if measured {
						got = allocated(parse)
					} else {
						parse()
					}
				}
				text := ""
				if err != nil {
					text = err.Error()
				}
				var e *nocopy.Error
				switch {
				case measured && text != c.err:
					t.Errorf("%s: the error is\n%q, not\n%q", c.what, text, c.err)
				case (err == nil) != (c.err == ""):
					t.Errorf("%s, %s: %v, not %s", c.what, w.Name, err, c.err)
				case err != nil && (!errors.As(err, &e) || e.Offset > len(wire)):
					t.Errorf("%s, %s: %#v", c.what, w.Name, err)
				}
				if got > c.peak && !raceEnabled && !debugging {
					t.Errorf("%s: %d bytes allocated, more than %d", c.what, got, c.peak)
				}
				if took > most && !raceEnabled {
					t.Errorf("%s, %s: took %v", c.what, w.Name, took)
				}
				if measured {
					fmt.Fprintf(out, "%s\t%d\t%s\t%d\t%v\n", c.what, len(wire), strings.TrimPrefix(text, "nocopy: "), got, took)
				}
			}
		})
	}
	out.Flush()
	t.Log(table.String())
}

// TestIndexMemory: by default a message is refused if its index would take more than 16 MiB plus
// 64 bytes for each byte of the message. Limits.MaxIndex is exact to the byte.
func TestIndexMemory(t *testing.T) {
	measure := func(what string, wire []byte, opts ...engine.Option) int {
		s, err := inOnePiece.Parse(allDesc, wire, opts...)
		if err != nil {
			if !errors.Is(err, nocopy.ErrLimit) {
				t.Errorf("%s: %v", what, err)
			}
			return 0
		}
		defer s.Release()
		touchAll(s)
		n := 4 * engine.IndexWords(s.Message())
		if most := 64*len(wire) + 16<<20; n > most {
			t.Errorf("%s: an index of %d bytes for %d, more than %d", what, n, len(wire), most)
		}
		return n
	}
	for _, bomb := range bombs {
		t.Run(bomb.Name, func(t *testing.T) {
			for _, n := range []int{10, 1000, testmode.Of(20_000, 400_000)} {
				wire := []byte(bomb.Make(n) + stop)
				measure(bomb.Name, wire, engine.Lazy)
				size := measure(bomb.Name, wire)
				if size == 0 {
					continue
				}
				if measure(bomb.Name, wire, engine.Limits{MaxIndex: size}) != size {
					t.Errorf("%s of %d bytes: refused with MaxIndex %d, which is enough", bomb.Name, len(wire), size)
				}
				if got := measure(bomb.Name, wire, engine.Limits{MaxIndex: size - 4}); got > size-4 {
					t.Errorf("%s of %d bytes: MaxIndex %d, but an index of %d", bomb.Name, len(wire), size-4, got)
				}
				lazily := measure(bomb.Name, wire, engine.Lazy, engine.Limits{MaxIndex: size - 4})
				if lazily > size-4 {
					t.Errorf("%s of %d bytes, lazily: MaxIndex %d, but an index of %d", bomb.Name, len(wire), size-4, lazily)
				}
			}
		})
	}
}

package idl_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/nocopythrift/nocopythrift/gen/idl"
)

// wide encodes a text with 16 or 32 bits per character.
func wide(order binary.AppendByteOrder, bits int, text string) []byte {
	var out []byte
	if bits == 32 {
		for _, r := range text {
			out = order.AppendUint32(out, uint32(r))
		}
		return out
	}
	for _, u := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

func TestWideEncodings(t *testing.T) {
	for _, text := range []string{
		"struct A {\n  1: i32 a\n}\n", "//", "\n", "A", "# größe\nstruct A {}\r\n", "// 注释 注释 注释\nstruct A { 1: i32 a }\n",
		"#注释\nnamespace go x\nstruct A { 1: i32 a }\n", "/** 😀 */ const string s = 'x'", everything,
		"struct A {\n" + strings.Repeat("  1: i32 a // 注释\n", 5000) + "}\n",
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			for _, bits := range []int{16, 32} {
				want := "f:1:1: the file is UTF-" + map[int]string{16: "16", 32: "32"}[bits] + ", save it as UTF-8"
				for _, mark := range []string{"", "\ufeff"} {
					_, err := idl.Parse("f", wide(order, bits, mark+text))
					if err == nil || err.Error() != want {
						t.Errorf("%.40q with mark %q, %d bits, %v: %v", text, mark, bits, order, err)
					}
				}
			}
		}
	}
}

// TestBinary tests files that are not text at all.
func TestBinary(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte(everything))
	w.Close()
	noise := make([]byte, 100_000)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(noise)
	for name, src := range map[string]string{
		"gzip":    zipped.String(),
		"noise":   string(noise),
		"zeroes":  strings.Repeat("\x00", 1000),
		"png":     "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x04\x00",
		"elf":     "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x3e\x00",
		"message": "\x08\x00\x01\x00\x00\x00\x05\x0b\x00\x02\x00\x00\x00\x03abc\x00",
		"latin-1": "struct Gr\xf6\xdfe { 1: i32 \xe4\xf6\xfc }",
	} {
		file, err := idl.Parse("f", []byte(src))
		if list, ok := err.(idl.ErrorList); !ok || len(list) != 1 || !strings.Contains(err.Error(), "give a .thrift file in UTF-8") {
			t.Errorf("%s: %v", name, err)
		}
		if file == nil || len(file.Definitions) > 0 {
			t.Errorf("%s: file %v", name, file)
		}
	}
}

// TestBytesInComments: comments and strings may hold any bytes, as for Apache's compiler.
func TestBytesInComments(t *testing.T) {
	var all []byte
	for i := range 256 {
		if i != '\n' {
			all = append(all, byte(i))
		}
	}
	for _, text := range []string{
		string(all), "caf\xe9", "\xed\xa0\x80 lone", "\x00", "\ufeff", "\u2028 \u2029 \u0085", "\xff\xfe", "x\x00y\x00z\x00", strings.Repeat("\x00", 30),
		"\x1b[31m", "\u202e", "* /", "/*", "//", "#",
	} {
		for _, src := range []string{
			"// " + text + "\nstruct A {}", "#" + text + "\nstruct A {}", "/* " + strings.ReplaceAll(text, "*/", "") + " */ struct A {}",
			"/** " + strings.ReplaceAll(text, "*/", "") + " */\nstruct A {}", "struct A {} // " + text, "struct A { // " + text + "\n}",
			"struct A {} (a = '" + strings.NewReplacer("\\", "", "'", "").Replace(text) + "')",
			"const string s = \"" + strings.NewReplacer("\\", "", "\"", "").Replace(text) + "\"\nstruct A {}",
			"\ufeff// " + text + "\nstruct A {}",
		} {
			file, err := idl.Parse("f", []byte(src))
			if err != nil {
				t.Errorf("%q: %v", src, err)
			} else if got := file.Definitions[len(file.Definitions)-1].DefName().Text; got != "A" {
				t.Errorf("%q defines %q", src, got)
			}
		}
	}
}

// TestOneBadByte: a few bad bytes are reported one by one, and hide no other error.
func TestOneBadByte(t *testing.T) {
	_, err := idl.Parse("f", []byte("struct A\xe9 { 1: i32 }\nstruct B { 1: \x07 }"))
	want := `f:1:9: unexpected character "\xe9"
f:2:15: unexpected character "\a"`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

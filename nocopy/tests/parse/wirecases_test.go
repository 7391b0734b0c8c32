// The format of testdata/wire: messages as commented hex, and the expected results.

package parse_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// wireCase is a block of a file in testdata/wire: bytes as hex or quoted text, each line with its
// comment, and the expected result.
//
//	case: what it is about
//	type: All
//	08 0004 0000002a   # 4: medium = 42
//	0b 0007 00000002 "hi"
//	00                 # STOP
//	value: {medium: 42, text: "hi"}
//
// Files of invalid messages have error instead of value, and options may name options of Parse.
type wireCase struct {
	name  string
	where string // file:line
	desc  *schema.Struct
	opts  []engine.Option
	wire  []byte
	value string
	err   string
}

// wireCases reads the files of testdata/wire whose names match.
func wireCases(t testing.TB, pattern string) []wireCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "wire", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	var cases []wireCase
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			where := filepath.Base(file) + ":" + strconv.Itoa(i+1)
			key, rest, _ := strings.Cut(line, ": ")
			switch key {
			case "case":
				cases = append(cases, wireCase{name: rest, where: where, desc: allDesc})
				continue
			case "type", "options", "value", "error":
				cases[len(cases)-1].set(t, where, key, rest)
				continue
			}
			if wire := wireLine(t, where, line); len(wire) > 0 {
				c := &cases[len(cases)-1]
				c.wire = append(c.wire, wire...)
			}
		}
	}
	return cases
}

func (c *wireCase) set(t testing.TB, where, key, value string) {
	t.Helper()
	switch key {
	case "type":
		if c.desc = wireTypes[value]; c.desc == nil {
			t.Fatalf("%s: no type %s", where, value)
		}
	case "options":
		for _, name := range strings.Fields(value) {
			o, ok := map[string]engine.Option{"Lazy": engine.Lazy, "Own": engine.Own, "Recycle": engine.Recycle, "ValidUTF8": engine.ValidUTF8}[name]
			if !ok {
				t.Fatalf("%s: no option %s", where, name)
			}
			c.opts = append(c.opts, o)
		}
	case "value":
		c.value = value
	case "error":
		c.err = value
	}
}

// wireLine returns the bytes that a line stands for.
func wireLine(t testing.TB, where, line string) []byte {
	t.Helper()
	var wire []byte
	for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			s, _ := strconv.Unquote(quoted)
			wire, line = append(wire, s...), line[len(quoted):]
			continue
		}
		token, rest, _ := strings.Cut(line, " ")
		b, err := hex.DecodeString(token)
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		wire, line = append(wire, b...), rest
	}
	return wire
}

// wireTypes are the types of cases, by their names.
var wireTypes = map[string]*schema.Struct{
	"Point": pointDesc, "Shape": shapeDesc, "All": allDesc, "Strict": strictDesc,
	"Default": defaultDesc, "Empty": emptyDesc, "Wide": wideDesc, "Tree": treeDesc,
}

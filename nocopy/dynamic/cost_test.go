package dynamic_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
)

// TestCost: loading changed IDL takes about as much memory as documented, programs included, and
// counts as at least nearly as much.
func TestCost(t *testing.T) {
	src := repeat(20, func(i int) string {
		return fmt.Sprintf("struct Cost%d {", i) + repeat(10, func(j int) string {
			return fmt.Sprintf(" %d: %s field%d,", j+1, []string{"i32", "string", "list<i64>", "map<string, double>", "bool"}[j%5], j)
		}) + " 20: string version = 'VERSION' }\n"
	})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	counted := dynamicMemory()
	const versions = 50
	for v := range versions {
		for _, typ := range text(t, strings.ReplaceAll(src, "VERSION", fmt.Sprint("cost", v))).Structs() {
			if _, err := typ.Parse(typ.New().Message().Bytes()); err != nil {
				t.Fatal(err)
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	structs := versions * 20
	used, said := int(after.HeapAlloc-before.HeapAlloc), dynamicMemory()-counted
	t.Logf("%d bytes for a struct of 11 fields, counted as %d", used/structs, said/structs)
	if used > 2*said {
		t.Errorf("%d bytes were counted as %d", used, said)
	}
}

func dynamicMemory() int { return dynamic.Interned().Memory }

// TestLoadingMemory: loading allocates memory proportional to the text, for any number of fields
// per struct.
func TestLoadingMemory(t *testing.T) {
	for _, kind := range []string{"i32", "required string"} {
		perByte := func(fields int) uint64 {
			src := fmt.Sprintf("struct Memory%d {\n", fields) + repeat(fields, func(i int) string {
				return fmt.Sprintf("%d: %s f%d\n", i+1, kind, i)
			}) + "}"
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			text(t, src)
			runtime.ReadMemStats(&after)
			return (after.TotalAlloc - before.TotalAlloc) / uint64(len(src))
		}
		few, many := perByte(500), perByte(5000)
		if many > few+few/4 {
			t.Errorf("%s: loading 5000 fields allocates %d bytes for each of the text, 500 fields %d", kind, many, few)
		}
	}
}

package parquetmeta_test

import (
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/parquetmeta"
)

func Example() {
	file, err := os.Open("testdata/orders.parquet")
	if err != nil {
		log.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		log.Fatal(err)
	}
	f, err := parquetmeta.Open(file, info.Size())
	if err != nil {
		log.Fatal(err)
	}
	for c, err := range f.Column("customer.name").Chunks() {
		if err != nil {
			log.Fatal(err)
		}
		s := c.Statistics
		fmt.Printf("row group %d: %d values, %d null, %q to %q, %v\n",
			c.RowGroup, c.NumValues, s.NullCount, s.MinValue, s.MaxValue, c.Encodings())
	}
	// Output:
	// row group 0: 2 values, 0 null, "Ada" to "Grace", [PLAIN RLE RLE_DICTIONARY]
	// row group 1: 2 values, 1 null, "Edsger" to "Edsger", [PLAIN RLE RLE_DICTIONARY]
}

func ExampleAppendFooter() {
	file, err := os.ReadFile("testdata/orders.parquet")
	if err != nil {
		log.Fatal(err)
	}
	f, err := parquetmeta.Open(strings.NewReader(string(file)), int64(len(file)))
	if err != nil {
		log.Fatal(err)
	}
	m, err := f.Metadata()
	if err != nil {
		log.Fatal(err)
	}
	defer m.Release()
	parquetmeta.SetKeyValue(m, "owner", "Ada")
	parquetmeta.DropStatistics(m)
	file, err = parquetmeta.AppendFooter(file[:f.Offset()], m)
	if err != nil {
		log.Fatal(err)
	}
	f, err = parquetmeta.Open(strings.NewReader(string(file)), int64(len(file)))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.KeyValue("owner"))
	// Output: Ada true
}

func ExampleFile_Schema() {
	file, err := os.ReadFile("testdata/orders.parquet")
	if err != nil {
		log.Fatal(err)
	}
	f, err := parquetmeta.Open(strings.NewReader(string(file)), int64(len(file)))
	if err != nil {
		log.Fatal(err)
	}
	var print func(n parquetmeta.Node, indent string)
	print = func(n parquetmeta.Node, indent string) {
		e, err := n.Metadata()
		if err != nil {
			log.Fatal(err)
		}
		if _, ok := n.Column(); ok {
			fmt.Println(indent+n.Name(), e.GetRepetitionType(), e.GetType(), e.GetLogicalType())
		} else {
			fmt.Println(indent + n.Name())
		}
		for child := range n.Children() {
			print(child, indent+"  ")
		}
	}
	print(f.Schema(), "")
	// Output:
	// schema
	//   id OPTIONAL INT64 {}
	//   customer
	//     name OPTIONAL BYTE_ARRAY {STRING: {}}
	//     age OPTIONAL INT32 {}
}

// TestReadme: the programs in README.md, and the block in docs/cookbook.md, are in the Examples.
func TestReadme(t *testing.T) {
	for _, test := range []struct{ page, begin, example string }{
		{"README.md", "```go\n", "example_test.go"},
		{"README.md", "```go\nfrom", "match/example_test.go"},
		{"../docs/cookbook.md", "<!-- parquetmeta: Example -->\n```go\n", "example_test.go"},
	} {
		example, err := os.ReadFile(test.example)
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(test.page)
		if err != nil {
			t.Fatal(err)
		}
		_, program, _ := strings.Cut(string(page), test.begin)
		program, _, ok := strings.Cut(program, "```")
		if !ok || !strings.Contains(string(example), strings.ReplaceAll(strings.TrimSpace(program), "\n", "\n\t")) {
			t.Errorf("%s does not have the program of %s:\n%s", test.example, test.page, program)
		}
	}
}

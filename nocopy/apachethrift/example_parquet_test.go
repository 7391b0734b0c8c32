package apachethrift_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift/internal/footer"
)

// footerOf returns the footer of a Parquet file, a struct in the compact protocol. The file ends
// with the footer, its length, and "PAR1".
func footerOf(name string) ([]byte, error) {
	file, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	rest, ok := bytes.CutSuffix(file, []byte("PAR1"))
	if !ok || len(rest) < 4 {
		return nil, fmt.Errorf("%s is not a Parquet file", name)
	}
	rest, length := rest[:len(rest)-4], binary.LittleEndian.Uint32(rest[len(rest)-4:])
	if uint64(length) > uint64(len(rest)) {
		return nil, fmt.Errorf("%s has no footer of %d bytes", name, length)
	}
	return rest[len(rest)-int(length):], nil
}

// Files of Apache Parquet end with a struct in Thrift's compact protocol that contains their
// schema.
func ExampleRead_parquet() {
	b, err := footerOf("testdata/cities.parquet")
	if err != nil {
		fmt.Println(err)
		return
	}
	memory := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(b)}
	meta, err := apachethrift.Read[footer.FileMetaData](context.Background(), thrift.NewTCompactProtocolConf(memory, nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	// The tree of columns is a list: each group is followed by its children.
	schema, next := meta.GetSchema(), 0
	var show func(depth int)
	show = func(depth int) {
		e := schema.At(next)
		next++
		indent := strings.Repeat("  ", depth)
		if e.IsSetType() {
			fmt.Printf("%s%v %v %s\n", indent, e.GetRepetitionType(), e.GetType(), e.GetName())
			return
		}
		fmt.Printf("%sgroup %s\n", indent, e.GetName())
		for range e.GetNumChildren() {
			show(depth + 1)
		}
	}
	show(0)
	fmt.Println(meta.GetNumRows(), "rows")
	for _, column := range meta.GetRowGroups().At(0).GetColumns().All() {
		if s := column.GetMetaData().GetStatistics(); column.GetMetaData().GetPathInSchema().At(0) == "name" {
			fmt.Printf("names from %s to %s\n", s.GetMinValue(), s.GetMaxValue())
		}
	}
	// Output:
	// group City
	//   REQUIRED BYTE_ARRAY name
	//   REQUIRED BYTE_ARRAY country
	//   OPTIONAL INT64 population
	//   REQUIRED INT64 founded
	//   group districts
	//     group list
	//       REQUIRED BYTE_ARRAY element
	//   REQUIRED DOUBLE area
	//   REQUIRED BOOLEAN capital
	// 3 rows
	// names from Graz to Riga
}

// Parts of the footer that the IDL leaves out are kept: they are written as they were read.
func TestParquetFooter(t *testing.T) {
	b, err := footerOf("testdata/cities.parquet")
	if err != nil {
		t.Fatal(err)
	}
	in := &thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(bytes.Clone(b))}
	meta, err := apachethrift.Read[footer.FileMetaData](context.Background(), thrift.NewTCompactProtocolConf(in, nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := meta.GetKeyValueMetadata().At(0); got.GetKey() != "made by" || got.GetValue() != "a test of nocopythrift" {
		t.Errorf("metadata %s", got)
	}
	if !strings.HasPrefix(meta.GetCreatedBy(), "github.com/parquet-go/parquet-go") {
		t.Errorf("created by %s", meta.GetCreatedBy())
	}
	unknown := 0
	for range meta.GetSchema().At(1).Unknown() {
		unknown++
	}
	if unknown == 0 {
		t.Error("a column has no unknown fields")
	}
	out := thrift.NewTMemoryBuffer()
	if err := apachethrift.Write(context.Background(), thrift.NewTCompactProtocolConf(out, nil), meta); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), b) {
		t.Errorf("written as\n%x, not\n%x", out.Bytes(), b)
	}
}

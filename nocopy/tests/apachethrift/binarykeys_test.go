package apachethrift_test

import (
	"context"
	"errors"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/apachethrift"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

// binaryKeys is struct BinaryKeys { 1: map<binary, i32> m }.
type binaryKeys struct{ s nocopy.Struct }

var binaryKeysDesc = thriftimpl.NewDesc("BinaryKeys")

func init() {
	binaryKeysDesc.Define(thriftimpl.FieldDesc{ID: 1, Name: "m", Type: thriftimpl.MapOf(thriftimpl.TypeBinary, thriftimpl.TypeI32)})
}

func (b binaryKeys) ThriftDesc() *thriftimpl.Desc    { return binaryKeysDesc }
func (b binaryKeys) ThriftStruct() thriftimpl.Struct { return thriftimpl.Struct(b.s) }

// TestBinaryKeys: over JSON the key of a map<binary, …> is base64, as in Apache's Java, C++, C,
// Python and Node. Apache's Go library writes a string, which is another key, or an error, here.
func TestBinaryKeys(t *testing.T) {
	ctx := context.Background()
	read := func(text string) (nocopy.Struct, error) {
		trans := thrift.NewTMemoryBuffer()
		trans.WriteString(text)
		return apachethrift.ReadStruct(ctx, thrift.NewTJSONProtocol(trans), binaryKeysDesc)
	}
	const text = `{"1":{"map":["str","i32",1,{"AP8B":7}]}}`
	s, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	out := thrift.NewTMemoryBuffer()
	p := thrift.NewTJSONProtocol(out)
	if err := apachethrift.Write(ctx, p, binaryKeys{s}); err != nil || p.Flush(ctx) != nil || out.String() != text {
		t.Errorf("%s %v", out.String(), err)
	}
	for text, want := range map[string]string{text: "\x00\xff\x01", `{"1":{"map":["str","i32",1,{"abcd":7}]}}`: "\x69\xb7\x1d"} {
		s, err := read(text)
		if err != nil {
			t.Fatal(err)
		}
		for k := range thriftimpl.Struct(s).Value(binaryKeysDesc.Field(0), binaryKeysDesc).Struct().Pairs() {
			if k.Text() != want {
				t.Errorf("%s: key %q, want %q", text, k.Text(), want)
			}
		}
	}
	var bad *nocopy.Error
	if _, err := read(`{"1":{"map":["str","i32",1,{"not base64":7}]}}`); !errors.As(err, &bad) || bad.Path != "BinaryKeys.m[0]" {
		t.Error(err)
	}
}

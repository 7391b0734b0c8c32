package interop

import (
	"context"
	"math"
	"strings"

	tt "github.com/nocopythrift/nocopythrift/interop/thrifttest"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

func (s *suite) baseTypes() {
	const bit = FailedBaseTypes
	c := s.client
	s.test(bit, "testVoid()", func(ctx context.Context) (string, error) {
		r, err := c.TestVoid(ctx, nil)
		if err != nil {
			return "", err
		}
		r.Release()
		return "void", nil
	})
	echo(s, bit, "testString", c.TestString, tt.ThriftTestTestStringArgs.SetThing, tt.ThriftTestTestStringResult.GetSuccess,
		"Test", "", manyLanguages, oddText, strings.Repeat("Go", 50_000))
	echo(s, bit, "testBool", c.TestBool, tt.ThriftTestTestBoolArgs.SetThing, tt.ThriftTestTestBoolResult.GetSuccess,
		true, false)
	echo(s, bit, "testByte", c.TestByte, tt.ThriftTestTestByteArgs.SetThing, tt.ThriftTestTestByteResult.GetSuccess,
		0, 1, -1, 42, math.MaxInt8, math.MinInt8)
	echo(s, bit, "testI32", c.TestI32, tt.ThriftTestTestI32Args.SetThing, tt.ThriftTestTestI32Result.GetSuccess,
		0, -1, 190000013, -190000013, math.MaxInt32, math.MinInt32)
	echo(s, bit, "testI64", c.TestI64, tt.ThriftTestTestI64Args.SetThing, tt.ThriftTestTestI64Result.GetSuccess,
		0, -1, -34359738368, 7000000000000000123, 1<<32+1, -1<<32-1, math.MaxInt64, math.MinInt64)
	// Not −0, nor NaN's bits: JavaScript does not keep them.
	echo(s, bit, "testDouble", c.TestDouble, tt.ThriftTestTestDoubleArgs.SetThing, tt.ThriftTestTestDoubleResult.GetSuccess,
		0, -1, -5.325098235, -0.000341012439638598279, 1<<53-1, 1e307, 1e-292, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1))
	echo(s, bit, "testBinary", c.TestBinary, setBinary, getBinary, "", allBytes, strings.Repeat(allBytes, 512))
	echo(s, bit, "testUuid", c.TestUuid, tt.ThriftTestTestUuidArgs.SetThing, tt.ThriftTestTestUuidResult.GetSuccess,
		nocopy.UUID{}, nocopy.UUID{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff})
	echo(s, bit, "testTypedef", c.TestTypedef, tt.ThriftTestTestTypedefArgs.SetThing, tt.ThriftTestTestTypedefResult.GetSuccess,
		309858235082523, -1)
}

func setBinary(args tt.ThriftTestTestBinaryArgs, b string) { args.SetThing([]byte(b)) }

func getBinary(r tt.ThriftTestTestBinaryResult) string { return string(r.GetSuccess()) }

var allBytes = func() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}()

const (
	// manyLanguages has letters of one, two, three and four bytes.
	manyLanguages = "English, Français, Čeština, Ελληνικά, Русский, Հայերեն, עברית, العربية, हिन्दी, বাংলা, தமிழ், ไทย, ქართული, ᏣᎳᎩ, ភាសាខ្មែរ, 中文, 日本語, 한국어, 𐌲𐌿𐍄𐌹𐍃𐌺"

	// oddText has characters that a text protocol would have to escape.
	oddText = "quote: \" backslash: \\ slash: / backspace: \b formfeed: \f newline: \n return: \r tab: \t null: \x00 junk: !@#$%&()[]{}<>"
)

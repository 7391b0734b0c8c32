// The names by which tests of this folder call what all of them share.

package containers_test

import (
	"strconv"
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/support"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

type way = support.Way

const (
	fieldHeader = 3 // bytes
	textHeader  = 4 // bytes

	referSize = engine.ReferSize

	aliasing    = testmode.Unsafe
	debugging   = testmode.Debug
	raceEnabled = testmode.Race
)

var (
	itoa = strconv.Itoa

	allocated  = support.Allocated
	be         = support.Be
	cloned     = support.Cloned
	cutAt      = support.CutAt
	cutEvery   = support.CutEvery
	inOnePiece = support.InOnePiece
	longText   = support.LongText
	manyWays   = support.ManyWays
	owned      = support.Owned
	with       = support.With

	allDesc   = testtypes.All
	colorType = testtypes.Color
	itemDesc  = testtypes.Item
	panics    = testtypes.Panics
	pointDesc = testtypes.Point

	listTypeOf    = thriftimpl.ListOf
	mapTypeOf     = thriftimpl.MapOf
	newStruct     = thriftimpl.New
	newStructDesc = thriftimpl.NewDesc
	parseStruct   = thriftimpl.Parse
	structTypeOf  = thriftimpl.StructOf
	typeBinary    = thriftimpl.TypeBinary
	typeBool      = thriftimpl.TypeBool
	typeDouble    = thriftimpl.TypeDouble
	typeI16       = thriftimpl.TypeI16
	typeI32       = thriftimpl.TypeI32
	typeI64       = thriftimpl.TypeI64
	typeI8        = thriftimpl.TypeI8
	typeString    = thriftimpl.TypeString
	typeUUID      = thriftimpl.TypeUUID
)

// A variable of this function would let name escape, which allocates if tests put it together.
func fieldNamed(d *schema.Struct, name string) schema.Ref { return testtypes.FieldNamed(d, name) }

// messageOf returns the message of a handle of any kind.
func messageOf[V nocopy.View](v V) *nocopy.Message { return nocopy.Struct(v).Message() }

// A variable of this function would let opts escape, which allocates.
func mustParse(t testing.TB, d *schema.Struct, wire []byte, opts ...engine.Option) engine.Struct {
	t.Helper()
	return support.MustParse(t, d, wire, opts...)
}

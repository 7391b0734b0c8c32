// The names by which tests of this folder call what all of them share.

package fields_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/support"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

type way = support.Way

const (
	referSize = engine.ReferSize

	debugging   = testmode.Debug
	raceEnabled = testmode.Race
)

var (
	allocsPerRun = support.AllocsPerRun
	checkOutput  = support.CheckOutput
	cloned       = support.Cloned
	cutEvery     = support.CutEvery
	inOnePiece   = support.InOnePiece
	join         = support.Join
	longText     = support.LongText
	nest         = support.Nest
	owned        = support.Owned
	ways         = support.Ways
	with         = support.With

	allDesc     = testtypes.All
	defaultDesc = testtypes.Default
	emptyDesc   = testtypes.Empty
	panicsWith  = testtypes.PanicsWith
	pointDesc   = testtypes.Point
	shapeDesc   = testtypes.Shape
	wideOf      = testtypes.WideOf

	listTypeOf    = thriftimpl.ListOf
	mapTypeOf     = thriftimpl.MapOf
	newConst      = thriftimpl.NewConst
	newStruct     = thriftimpl.New
	newStructDesc = thriftimpl.NewDesc
	newUnionDesc  = thriftimpl.NewUnionDesc
	parseStruct   = thriftimpl.Parse
	structTypeOf  = thriftimpl.StructOf
	typeI32       = thriftimpl.TypeI32
	typeString    = thriftimpl.TypeString
)

// armNumber returns what Which of a union returns when f is set.
func armNumber(f thriftimpl.Field) int32 { return int32(f.Number()) }

// A variable of this function would let name escape, which allocates if tests put it together.
func fieldNamed(d *schema.Struct, name string) schema.Ref { return testtypes.FieldNamed(d, name) }

// A variable of this function would let opts escape, which allocates.
func mustParse(t testing.TB, d *schema.Struct, wire []byte, opts ...engine.Option) engine.Struct {
	t.Helper()
	return support.MustParse(t, d, wire, opts...)
}

// namedIn returns fieldNamed of this struct.
func namedIn(d *thriftimpl.Desc) func(name string) thriftimpl.Field {
	return func(name string) thriftimpl.Field { return fieldNamed(d, name) }
}

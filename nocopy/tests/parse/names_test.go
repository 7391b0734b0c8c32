// The names by which tests of this folder call what all of them share.

package parse_test

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
	raceEnabled = testmode.Race

	panicAbsent = testtypes.PanicAbsent
)

var (
	allocated     = support.Allocated
	be            = support.Be
	bombs         = support.Bombs
	changeAll     = support.ChangeAll
	checkError    = support.CheckError
	checkOutput   = support.CheckOutput
	cutAt         = support.CutAt
	cutEvery      = support.CutEvery
	editScattered = support.EditScattered
	fromReader    = support.FromReader
	inOnePiece    = support.InOnePiece
	nest          = support.Nest
	optionsOf     = support.OptionsOf
	ways          = support.Ways
	with          = support.With

	allDesc      = testtypes.All
	businessDesc = testtypes.Business
	defaultDesc  = testtypes.Default
	emptyDesc    = testtypes.Empty
	panicsWith   = testtypes.PanicsWith
	pointDesc    = testtypes.Point
	shapeDesc    = testtypes.Shape
	strictDesc   = testtypes.Strict
	treeDesc     = testtypes.Tree
	wideDesc     = testtypes.Wide

	listTypeOf    = thriftimpl.ListOf
	mapTypeOf     = thriftimpl.MapOf
	newStruct     = thriftimpl.New
	newStructDesc = thriftimpl.NewDesc
	parseStruct   = thriftimpl.Parse
	structTypeOf  = thriftimpl.StructOf
	typeBool      = thriftimpl.TypeBool
	typeI32       = thriftimpl.TypeI32
	typeI64       = thriftimpl.TypeI64
	typeI8        = thriftimpl.TypeI8
	typeString    = thriftimpl.TypeString
)

// A variable of this function would let name escape, which allocates if tests put it together.
func fieldNamed(d *schema.Struct, name string) schema.Ref { return testtypes.FieldNamed(d, name) }

// A variable of this function would let opts escape, which allocates.
func mustParse(t testing.TB, d *schema.Struct, wire []byte, opts ...engine.Option) engine.Struct {
	t.Helper()
	return support.MustParse(t, d, wire, opts...)
}

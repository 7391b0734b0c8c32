// The names by which tests of this folder call what all of them share.

package edits_test

import (
	"strconv"
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
	aliasing    = testmode.Unsafe
	debugging   = testmode.Debug
	raceEnabled = testmode.Race

	one       = testtypes.One
	panicFull = testtypes.PanicFull
	panicGone = testtypes.PanicGone
	stop      = testtypes.Stop
	two       = testtypes.Two
	unkText   = testtypes.UnkText
)

var (
	itoa = strconv.Itoa

	allocsPerRun = support.AllocsPerRun
	be           = support.Be
	changeAll    = support.ChangeAll
	cloned       = support.Cloned
	define       = support.Define
	fill         = support.Fill
	fromReader   = support.FromReader
	inOnePiece   = support.InOnePiece
	longText     = support.LongText
	manyWays     = support.ManyWays
	optionsOf    = support.OptionsOf
	owned        = support.Owned
	soakWires    = support.SoakWires
	with         = support.With

	allDesc     = testtypes.All
	defaultDesc = testtypes.Default
	isStale     = testtypes.IsStale
	itemDesc    = testtypes.Item
	panics      = testtypes.Panics
	pointDesc   = testtypes.Point
	shapeDesc   = testtypes.Shape

	newStruct = thriftimpl.New
)

// A variable of this function would let name escape, which allocates if tests put it together.
func fieldNamed(d *schema.Struct, name string) schema.Ref { return testtypes.FieldNamed(d, name) }

// A variable of this function would let opts escape, which allocates.
func mustParse(t testing.TB, d *schema.Struct, wire []byte, opts ...engine.Option) engine.Struct {
	t.Helper()
	return support.MustParse(t, d, wire, opts...)
}

// The names by which tests of this folder call what all of them share.

package handles_test

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
	textHeader     = 4 // bytes
	zeroHandleText = "<none>"

	referSize = engine.ReferSize

	maxCount = support.MaxCount

	debugging   = testmode.Debug
	raceEnabled = testmode.Race

	panicAbsent    = testtypes.PanicAbsent
	panicConst     = testtypes.PanicConst
	panicNotRoot   = testtypes.PanicNotRoot
	panicStale     = testtypes.PanicStale
	setterOnAbsent = testtypes.SetterOnAbsent
)

var (
	itoa = strconv.Itoa

	changeAll     = support.ChangeAll
	cutEvery      = support.CutEvery
	editScattered = support.EditScattered
	fill          = support.Fill
	fromReader    = support.FromReader
	inOnePiece    = support.InOnePiece
	longText      = support.LongText
	optionsOf     = support.OptionsOf
	owned         = support.Owned
	recycled      = support.Recycled
	together      = support.Together
	with          = support.With

	allDesc      = testtypes.All
	businessDesc = testtypes.Business
	defaultDesc  = testtypes.Default
	ignoredTwice = testtypes.IgnoredTwice
	panics       = testtypes.Panics
	panicsWith   = testtypes.PanicsWith
	pointDesc    = testtypes.Point
	requestDesc  = testtypes.Request
	strictDesc   = testtypes.Strict

	mapTypeOf     = thriftimpl.MapOf
	newConst      = thriftimpl.NewConst
	newStruct     = thriftimpl.New
	newStructDesc = thriftimpl.NewDesc
	parseStruct   = thriftimpl.Parse
	structTypeOf  = thriftimpl.StructOf
	typeI64       = thriftimpl.TypeI64
	typeString    = thriftimpl.TypeString
)

// emptyHandle returns the handle of an absent struct or container.
func emptyHandle() thriftimpl.Struct { return thriftimpl.Struct(thriftimpl.Absent()) }

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

// parseInto is nocopy.ParseInto for the type that d describes.
func parseInto(m *nocopy.Message, d *thriftimpl.Desc, b []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
	return engine.ParseInto(d, (*engine.Message)(m), b, opts)
}

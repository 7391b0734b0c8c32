// The names by which tests of this folder call what all of them share.

package limits_test

import (
	"encoding/binary"
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
	referSize = engine.ReferSize

	blobField  = support.BlobField
	byPoint    = support.ByPoint
	children   = support.Children
	counts     = support.Counts
	flags      = support.Flags
	forest     = support.Forest
	groups     = support.Groups
	grown      = support.Grown
	indexFloor = support.IndexFloor
	mapOfMaps  = support.MapOfMaps
	matrix     = support.Matrix
	maxInt     = support.MaxInt
	million100 = support.Million100
	minInt     = support.MinInt
	minusOne   = support.MinusOne
	named      = support.Named
	none       = support.None
	numbers    = support.Numbers
	one        = support.One
	pairs      = support.Pairs
	points     = support.Points
	self       = support.Self
	stop       = support.Stop
	tags       = support.Tags
	textField  = support.TextField
	two        = support.Two
	unique     = support.Unique
	unkList    = support.UnkList
	unkMap     = support.UnkMap
	unkStruct  = support.UnkStruct
	unkText    = support.UnkText
	wide       = support.Wide
	words      = support.Words

	aliasing    = testmode.Unsafe
	debugging   = testmode.Debug
	raceEnabled = testmode.Race
)

var (
	itoa = strconv.Itoa

	allocated     = support.Allocated
	allocsPerRun  = support.AllocsPerRun
	be            = support.Be
	bombs         = support.Bombs
	buildBusiness = support.BuildBusiness
	checkError    = support.CheckError
	cutAt         = support.CutAt
	cutEvery      = support.CutEvery
	define        = support.Define
	inOnePiece    = support.InOnePiece
	join          = support.Join
	keys          = support.Keys
	longText      = support.LongText
	manyWays      = support.ManyWays
	nest          = support.Nest
	owned         = support.Owned
	soakWires     = support.SoakWires
	structs       = support.Structs
	times         = support.Times
	touchAll      = support.TouchAll
	with          = support.With

	allDesc      = testtypes.All
	businessDesc = testtypes.Business
	callerDesc   = testtypes.Caller
	itemDesc     = testtypes.Item
	pointDesc    = testtypes.Point
	requestDesc  = testtypes.Request
	strictDesc   = testtypes.Strict
	treeDesc     = testtypes.Tree

	newStruct     = thriftimpl.New
	newStructDesc = thriftimpl.NewDesc
	parseStruct   = thriftimpl.Parse
	typeBool      = thriftimpl.TypeBool
	typeI64       = thriftimpl.TypeI64
	typeString    = thriftimpl.TypeString
)

func appendBE32(dst []byte, v uint32) []byte { return binary.BigEndian.AppendUint32(dst, v) }

// A variable of this function would let name escape, which allocates if tests put it together.
func fieldNamed(d *schema.Struct, name string) schema.Ref { return testtypes.FieldNamed(d, name) }

// A variable of this function would let opts escape, which allocates.
func mustParse(t testing.TB, d *schema.Struct, wire []byte, opts ...engine.Option) engine.Struct {
	t.Helper()
	return support.MustParse(t, d, wire, opts...)
}

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

	indexFloor = support.IndexFloor

	aliasing    = testmode.Unsafe
	debugging   = testmode.Debug
	raceEnabled = testmode.Race

	blobField  = testtypes.HeadBlob
	byPoint    = testtypes.HeadByPoint
	children   = testtypes.HeadChildren
	counts     = testtypes.HeadCounts
	flags      = testtypes.HeadFlags
	forest     = testtypes.HeadForest
	groups     = testtypes.HeadGroups
	grown      = testtypes.HeadGrown
	mapOfMaps  = testtypes.HeadMapOfMaps
	matrix     = testtypes.HeadMatrix
	maxInt     = testtypes.MaxInt
	million100 = testtypes.Million100
	minInt     = testtypes.MinInt
	minusOne   = testtypes.MinusOne
	named      = testtypes.HeadNamed
	none       = testtypes.None
	numbers    = testtypes.HeadNumbers
	one        = testtypes.One
	pairs      = testtypes.HeadPairs
	points     = testtypes.HeadPoints
	self       = testtypes.HeadSelf
	stop       = testtypes.Stop
	tags       = testtypes.HeadTags
	textField  = testtypes.HeadText
	two        = testtypes.Two
	unique     = testtypes.HeadUnique
	unkList    = testtypes.UnkList
	unkMap     = testtypes.UnkMap
	unkStruct  = testtypes.UnkStruct
	unkText    = testtypes.UnkText
	wide       = testtypes.HeadWide
	words      = testtypes.HeadWords
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
	touchAll      = support.TouchAll
	with          = support.With

	allDesc      = testtypes.All
	businessDesc = testtypes.Business
	callerDesc   = testtypes.Caller
	itemDesc     = testtypes.Item
	pointDesc    = testtypes.Point
	requestDesc  = testtypes.Request
	strictDesc   = testtypes.Strict
	structs      = testtypes.Structs
	times        = testtypes.Times
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

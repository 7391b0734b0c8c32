// Parts of wire bytes of allDesc.

package engine

import "github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"

const (
	textField = testtypes.HeadText
	numbers   = testtypes.HeadNumbers
	words     = testtypes.HeadWords
	unique    = testtypes.HeadUnique
	counts    = testtypes.HeadCounts
	points    = testtypes.HeadPoints
	matrix    = testtypes.HeadMatrix
	self      = testtypes.HeadSelf
	grown     = testtypes.HeadGrown
	unkList   = testtypes.UnkList
	unkStruct = testtypes.UnkStruct
	none      = testtypes.None
	one       = testtypes.One
	two       = testtypes.Two
	stop      = testtypes.Stop
)

var (
	times   = testtypes.Times
	structs = testtypes.Structs
)

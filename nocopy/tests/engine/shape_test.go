// The struct types that most tests of this package use, and how tests name their fields.

package engine_test

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"
)

var (
	pointDesc    = testtypes.Point
	shapeDesc    = testtypes.Shape
	allDesc      = testtypes.All
	strictDesc   = testtypes.Strict
	defaultDesc  = testtypes.Default
	emptyDesc    = testtypes.Empty
	wideDesc     = testtypes.Wide
	treeDesc     = testtypes.Tree
	requestDesc  = testtypes.Request
	callerDesc   = testtypes.Caller
	businessDesc = testtypes.Business
	itemDesc     = testtypes.Item
	caseDesc     = testtypes.Case
	armsDesc     = testtypes.CaseArms
	orchardDesc  = testtypes.Orchard
)

func fieldNamed(d *schema.Struct, name string) schema.Ref { return testtypes.FieldNamed(d, name) }

func wideOf(n int) *schema.Struct { return testtypes.WideOf(n) }

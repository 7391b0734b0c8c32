// The struct types that most tests of this package use, and how tests name their fields.

package nocopy_test

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

var (
	pointDesc   = testtypes.Point
	shapeDesc   = testtypes.Shape
	allDesc     = testtypes.All
	defaultDesc = testtypes.Default
	emptyDesc   = testtypes.Empty
	colorType   = testtypes.Color
)

func fieldNamed(d *thriftimpl.Desc, name string) thriftimpl.Field {
	return testtypes.FieldNamed(d, name)
}

// namedIn returns fieldNamed of this struct.
func namedIn(d *thriftimpl.Desc) func(name string) thriftimpl.Field {
	return func(name string) thriftimpl.Field { return fieldNamed(d, name) }
}

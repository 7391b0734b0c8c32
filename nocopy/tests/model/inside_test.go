// The tests' access to internals of package nocopy.

package model_test

import (
	"github.com/nocopythrift/nocopythrift/nocopy"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/thriftimpl"
)

var anySize = engine.AnySize

// parseInto and newInto are nocopy.ParseInto and NewInto for the type that d describes.
func parseInto(m *nocopy.Message, d *thriftimpl.Desc, b []byte, opts ...nocopy.Option) (thriftimpl.Struct, error) {
	return engine.ParseInto(d, (*engine.Message)(m), b, opts)
}

func newInto(m *nocopy.Message, d *thriftimpl.Desc, opts ...nocopy.Option) thriftimpl.Struct {
	return engine.NewInto(d, (*engine.Message)(m), opts)
}

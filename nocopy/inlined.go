package nocopy

import "github.com/nocopythrift/nocopythrift/nocopy/internal/engine"

// Programs that use generic lists import this package, not package engine. The compiler inlines
// functions of engine into them only if this package has inlined the same functions. These calls
// make it do that.

//lint:ignore U1000 see above
func inlineHandle(s engine.Struct) engine.Struct {
	s, stride := s.First()
	return s.Next(stride)
}

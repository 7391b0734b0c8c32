// Gives the tests of package engine the texts of package render, which imports it.

package engine_test

import (
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/render"
)

func init() {
	engine.TextOf, engine.ContainerTextOf = render.Text, render.ContainerText
}

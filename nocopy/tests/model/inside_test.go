// What tests reach of the inside of package nocopy.

package model_test

import "github.com/nocopythrift/nocopythrift/nocopy"

var (
	inside  = nocopy.X{}.Inside()
	anySize = inside.AnySize()
)

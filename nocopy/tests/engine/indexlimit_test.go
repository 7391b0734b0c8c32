// A struct of optional fields, for tests of memory.

package engine_test

import (
	"fmt"

	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
)

// optionals returns n optional fields of type t.
func optionals(n int, t *schema.Type) []schema.FieldDesc {
	fields := make([]schema.FieldDesc, n)
	for i := range fields {
		fields[i] = schema.FieldDesc{ID: int16(i + 1), Name: fmt.Sprint("f", i+1), Type: t, Req: schema.Optional}
	}
	return fields
}

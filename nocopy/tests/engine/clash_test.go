// A struct of maps, for tests of compaction.

package engine_test

import "github.com/nocopythrift/nocopythrift/nocopy/internal/schema"

// clashDesc has a map of texts, whose keys are put without codecs, and one of numbers.
var clashDesc = func() *schema.Struct {
	d := schema.NewStruct("Clash")
	d.Define(
		schema.FieldDesc{ID: 1, Name: "texts", Type: schema.MapOf(schema.TypeString, schema.TypeString)},
		schema.FieldDesc{ID: 2, Name: "numbers", Type: schema.MapOf(schema.TypeString, schema.TypeI64)},
	)
	return d
}()

// The names by which tests of this folder call what all of them share.

package wireindex_test

import (
	"testing"

	"github.com/nocopythrift/nocopythrift/internal/testmode"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/engine"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/schema"
	"github.com/nocopythrift/nocopythrift/nocopy/internal/testtypes"
	"github.com/nocopythrift/nocopythrift/nocopy/tests/internal/support"
)

const (
	aliasing    = testmode.Unsafe
	debugging   = testmode.Debug
	raceEnabled = testmode.Race
)

var (
	checkOutput   = support.CheckOutput
	join          = support.Join
	largeBusiness = support.LargeBusiness
	longText      = support.LongText
	ways          = support.Ways
	withIndex     = support.WithIndex

	allDesc      = testtypes.All
	armsDesc     = testtypes.CaseArms
	businessDesc = testtypes.Business
	caseDesc     = testtypes.Case
	emptyDesc    = testtypes.Empty
	itemDesc     = testtypes.Item
	orchardDesc  = testtypes.Orchard
)

// A variable of this function would let name escape, which allocates if tests put it together.
func fieldNamed(d *schema.Struct, name string) schema.Ref { return testtypes.FieldNamed(d, name) }

// A variable of this function would let opts escape, which allocates.
func mustParse(t testing.TB, d *schema.Struct, wire []byte, opts ...engine.Option) engine.Struct {
	t.Helper()
	return support.MustParse(t, d, wire, opts...)
}

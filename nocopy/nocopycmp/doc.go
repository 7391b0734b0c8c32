// Package nocopycmp has options for github.com/google/go-cmp/cmp to compare messages in tests:
//
//	if diff := cmp.Diff(want, got, nocopycmp.Transform()); diff != "" {
//		t.Errorf("-want +got:\n%s", diff)
//	}
//
// [Transform] makes handles of structs, lists, sets and maps what cmp can look into and print,
// also where they are in structs, slices and maps of Go's. All other options must be used together
// with it; their names are those of package protocmp, where that has them. Options of package
// cmpopts, such as EquateNaNs, EquateApprox and EquateEmpty, work on what Transform makes.
//
// A handle of a message that was released panics, as everywhere. Programs that do not import this
// package do not contain cmp.
package nocopycmp

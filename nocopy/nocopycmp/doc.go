// Package nocopycmp has options for github.com/google/go-cmp/cmp to compare messages in tests:
//
//	if diff := cmp.Diff(want, got, nocopycmp.Transform()); diff != "" {
//		t.Errorf("-want +got:\n%s", diff)
//	}
//
// [Transform] converts handles of structs, lists, sets and maps to values that cmp can compare and
// print, including handles inside Go structs, slices and maps. All other options must be used
// together with it. They have the names of package protocmp. Options of package cmpopts, such as
// EquateNaNs, EquateApprox and EquateEmpty, work on the converted values.
//
// Comparing a handle of a released message panics, as everywhere. Only programs that import this
// package contain cmp.
package nocopycmp

package idlfiles

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/nocopy/dynamic"
	"github.com/nocopythrift/nocopythrift/nocopy/inspect"
)

// TestPathsThatAreTold: the files that a server returns have their services, and names for dumps,
// whatever paths they are called by.
func TestPathsThatAreTold(t *testing.T) {
	const a, b = "include \"b.thrift\" struct A { 1: i32 amount } service S extends b.Base {}", "service Base {}"
	for _, files := range []map[string]string{
		{"a.thrift": a, "b.thrift": b}, {"./a.thrift": a, "b.thrift": b}, {"x/../a.thrift": a, "b.thrift": b}, {"./dir//a.thrift": a, "dir/b.thrift": b},
	} {
		for _, told := range [][]dynamic.ServiceName{nil, {{Service: "a.S"}, {Service: "b.Base"}}} {
			idl, err := Of(&dynamic.Description{Services: told, Files: files})
			if err != nil {
				t.Errorf("%q: %v", files, err)
				continue
			}
			var names []string
			for _, s := range idl.Services {
				names = append(names, s.Name())
			}
			slices.Sort(names) // the roots are in the order of their paths
			if got := strings.Join(names, " "); got != "Base S" {
				t.Errorf("%q has the services %q", files, got)
			}
			var dump bytes.Buffer
			err = inspect.Dump(&dump, strings.NewReader("\x08\x00\x01\x00\x00\x00\x07\x00"), inspect.Options{Form: inspect.Structs, IDL: idl.Names(), Type: "A"})
			if err != nil || !strings.Contains(dump.String(), "1 amount: i32 7") {
				t.Errorf("%q: %s, %v", files, dump.String(), err)
			}
		}
	}
}

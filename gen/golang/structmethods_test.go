package golang

import (
	"strings"
	"testing"
)

// TestStructMethods: the names reserved for methods of structs are those in the template.
func TestStructMethods(t *testing.T) {
	for _, name := range []string{"Message", "Release", "Clone", "Valid", "String", "Error", "Unknown", "Which", "AppendTo", "Equal"} {
		if !structMethods[name] {
			t.Errorf("%s is missing", name)
		}
	}
	text, err := templateFiles.ReadFile("templates/struct.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\nfunc (s "); n != len(structMethods) {
		t.Errorf("the template has %d methods, %d are known", n, len(structMethods))
	}
}

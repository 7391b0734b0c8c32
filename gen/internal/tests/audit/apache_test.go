package audit_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/gen/audit"
)

// broken holds, for each of Apache's files break1.thrift to break34.thrift, the kind and the
// symbol of its error compared with test.thrift. The last one is a warning here.
var broken = strings.Fields(`
	method-removed base.base_function3
	field-type-changed test_struct1.struct1_member1
	field-type-changed test_struct1.struct1_member9
	field-type-changed test_struct1.struct1_member6
	field-type-changed test_struct1.struct1_member6
	field-type-changed test_struct2.struct2_member4
	requiredness-changed test_struct6.struct6_member2
	requiredness-changed test_struct5.struct5_member2
	field-removed test_struct1.struct1_member7
	field-removed test_struct2.struct2_member1
	field-removed test_struct3.struct3_member7
	return-type-changed derived1.derived1_function1
	return-type-changed derived1.derived1_function6
	return-type-changed derived1.derived1_function4
	return-type-changed derived2.derived2_function1
	return-type-changed derived2.derived2_function5
	return-type-changed derived2.derived2_function6
	oneway-changed base.base_oneway
	oneway-changed base.base_function1
	enum-value-removed test_enum1.enum1_value0
	enum-value-removed test_enum2.enum2_value3
	enum-value-removed test_enum1.enum1_value2
	required-field-added test_struct4.struct4_member3
	extends-changed derived1
	extends-changed derived2
	field-type-changed base_function1_args.function1_arg3
	field-type-changed base_function2_args.function2_arg8
	field-type-changed derived1_function5_args.function5_arg1
	field-type-changed base_function2_args.function2_arg5
	return-type-changed derived1.derived1_function6
	field-removed base_function2_exception.e
	field-type-changed test_exception1.code
	field-type-changed derived1_function1_exception.e
	field-added-between test_struct3.struct3_member6`)

// TestApache compares the files of test/audit in Apache's module.
func TestApache(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/apache/thrift").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "test", "audit")
	find := func(old, new string, opt audit.Options) (errors, warnings []string) {
		in := audit.Input{Old: filepath.Join(dir, old), New: filepath.Join(dir, new)}
		for _, f := range load(t, in, opt) {
			text := f.Kind + " " + f.Symbol
			if f.Severity == audit.Error {
				errors = append(errors, text)
			} else {
				warnings = append(warnings, text)
			}
			symbol := f.Symbol[:strings.IndexByte(f.Symbol+".", '.')]
			if !strings.Contains(f.Message, symbol) && !strings.HasPrefix(f.Message, "method") && !strings.Contains(f.Message, " method ") {
				t.Errorf("%s: %s does not name %s", new, f.Message, symbol)
			}
		}
		return errors, warnings
	}
	for i := range len(broken) / 2 {
		errors, warnings := find("test.thrift", fmt.Sprintf("break%d.thrift", i+1), audit.Options{})
		want := broken[2*i] + " " + broken[2*i+1]
		if broken[2*i] == "field-added-between" {
			errors = append(errors, warnings...) // a warning here
		}
		if len(errors) != 1 || errors[0] != want {
			t.Errorf("break%d.thrift: %q, want %s", i+1, errors, want)
		}
	}
	errors, warnings := find("test.thrift", "warning.thrift", audit.Options{})
	want := "const-value-changed const2, const-value-changed const3, default-changed test_struct1.struct1_member4, " +
		"default-changed test_struct1.struct1_member5, field-renamed test_struct1.struct1_member9, " +
		"field-renamed test_struct2.struct2_member2, default-changed test_struct2.struct2_member3, " +
		"default-changed test_struct2.struct2_member4, default-changed test_struct3.struct3_member1, " +
		"default-changed test_struct3.struct3_member2, default-changed test_struct5.struct5_member1, " +
		"default-changed test_struct5.struct5_member2"
	if got := strings.Join(warnings, ", "); len(errors) > 0 || got != want {
		t.Errorf("warning.thrift: errors %q, warnings %s", errors, got)
	}
	// The cases with options from thrift_audit_test.pl.
	optional, toDefault := audit.Options{OptionalRemoval: true}, audit.Options{RequiredToDefault: true}
	for _, test := range []struct {
		old, new string
		opt      audit.Options
		broken   bool
	}{
		{"optional_field_old", "optional_field_removed", audit.Options{}, true},
		{"optional_field_old", "optional_field_removed", optional, false},
		{"optional_field_middle_old", "optional_field_middle_removed", optional, false},
		{"default_field_old", "optional_field_removed", optional, true},
		{"required_field_old", "optional_field_removed", optional, true},
		{"required_to_default_old", "required_to_default_new", audit.Options{}, true},
		{"required_to_default_old", "required_to_default_new", toDefault, false},
		{"required_to_default_new", "required_to_default_old", toDefault, true},
		{"required_to_default_old", "required_to_optional_new", toDefault, true},
		{"required_argument_old", "required_argument_default", audit.Options{}, true},
		{"required_argument_old", "required_argument_default", toDefault, false},
	} {
		errors, _ := find(test.old+".thrift", test.new+".thrift", test.opt)
		if test.broken != (len(errors) > 0) {
			t.Errorf("%s → %s with %+v: %q", test.old, test.new, test.opt, errors)
		}
	}
}

package documents_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestCompatibilityPage: the releases of Go, the modules and the versions of other programs in
// docs/compatibility.md are those that CI tests and go.mod files require.
func TestCompatibilityPage(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	find := func(name, expr string) string {
		m := regexp.MustCompile(expr).FindStringSubmatch(read(name))
		if m == nil {
			t.Fatalf("%s has no %s", name, expr)
		}
		return m[1]
	}
	older := find(".ci/run", `for release in go(\d\.\d+)\.\d+ `)
	newer := find(".ci/run", `for release in \S+ go(\d\.\d+)\.\d+;`)
	if required := find("go.mod", `(?m)^go (\d\.\d+)`); required != older {
		t.Errorf("go.mod requires Go %s, CI tests with %s", required, older)
	}
	page := strings.Join(strings.Fields(read("docs/compatibility.md")), " ")
	for _, want := range []string{
		"now **" + older + " and " + newer + "**",
		"| `hive`, `hive/arrowhive` |", "| `kerberos` |", "| `parquetmeta` |", "| `kitex` |", "| `otel` |", "| `cmd/nocopy` |",
		"HiveServer2 " + find("hive/hive.sh", `version=(\S+)`) + " and Spark " + find("hive/spark.sh", `version=(\S+)`),
		"Kitex " + find("kitex/go.mod", `cloudwego/kitex v(\d+\.\d+)\.`) + " or later",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/compatibility.md does not say %q", want)
		}
	}
	if want := "Go " + older + " and " + newer; !strings.Contains(read("README.md"), want) {
		t.Errorf("README.md does not say %q", want)
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// skipped are tests that build programs themselves, without the overlay, or take minutes.
const skipped = "^(TestInline|TestInlinable|TestFaults|TestHostileSteps)$"

// trial compiles and runs tests of the repository at root. dir is for its files.
type trial struct {
	root, dir string
	limit     time.Duration // of the tests of a folder
	verbose   bool          // print what failing tests print
	programs  map[string]*program
}

// original runs, without any change, the tests that are to notice the mutants. They must pass.
func (t *trial) original(mutants []*mutant) error {
	first, whole := map[string][]string{}, map[string]bool{}
	for _, m := range mutants {
		for _, of := range m.tests {
			first[of.folder] = append(first[of.folder], of.first...)
			whole[of.folder] = whole[of.folder] || len(of.first) == 0
		}
	}
	for folder, names := range first {
		if slices.Sort(names); whole[folder] {
			names = nil
		}
		binary, err := t.compile(folder, "")
		if err != nil {
			return err
		}
		if by := t.run(folder, binary, slices.Compact(names), t.limit); by != "" {
			return fmt.Errorf("without a change, tests of %s fail: %s", folder, by)
		}
	}
	return nil
}

// mutants tries all mutants and prints the score.
func (t *trial) mutants(mutants []*mutant) error {
	var errs []error
	killed, equivalent, survived := 0, 0, 0
	for _, m := range mutants {
		began := time.Now()
		by, err := t.try(m)
		what := "killed"
		switch {
		case err != nil:
			what = "broken"
			errs = append(errs, err)
		case by == "" && m.equivalent != "":
			what = "equivalent"
			equivalent++
		case by == "":
			what = "SURVIVED"
			survived++
			errs = append(errs, fmt.Errorf("%s survived", m.name))
		case m.equivalent != "":
			errs = append(errs, fmt.Errorf("%s is not equivalent: %s", m.name, by))
			fallthrough
		default:
			killed++
		}
		fmt.Printf("%-10s %-36s %4.0f s  %s\n", what, m.name, time.Since(began).Seconds(), by)
	}
	fmt.Printf("%d of %d mutants killed, %d survived, %d equivalent\n", killed, killed+survived, survived, equivalent)
	return errors.Join(errs...)
}

// try runs the tests with a mutant. It returns the test that fails, or how else it was noticed; ""
// if it was not.
func (t *trial) try(m *mutant) (by string, err error) {
	src, err := m.changed(t.root)
	if err != nil {
		return "", err
	}
	changed, overlay := filepath.Join(t.dir, "changed.go"), filepath.Join(t.dir, "overlay.json")
	if err := os.WriteFile(changed, src, 0o600); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(t.root, m.file): changed}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return "", err
	}
	binaries := make([]string, len(m.tests))
	for i, of := range m.tests {
		binaries[i] = t.binary(of.folder)
		if err = t.relink(of.folder, m.file, changed, binaries[i]); err == errOthersToo {
			binaries[i], err = t.compile(of.folder, overlay)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.name, err)
		}
		if len(of.first) > 0 {
			by = t.run(of.folder, binaries[i], of.first, t.limit/10) // many mutants make a test hang
		}
		if by != "" {
			return by, nil
		}
	}
	for i, of := range m.tests {
		if by := t.run(of.folder, binaries[i], nil, t.limit); by != "" {
			return by, nil
		}
	}
	return "", nil
}

// binary returns the name for the program of the tests in a folder.
func (t *trial) binary(folder string) string {
	return filepath.Join(t.dir, strings.ReplaceAll(folder, "/", "_")+".test")
}

// compile compiles the tests in a folder and returns the program's name.
func (t *trial) compile(folder, overlay string) (string, error) {
	binary := t.binary(folder)
	ctx, cancel := context.WithTimeout(context.Background(), t.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", binary, "-overlay="+overlay, ".")
	cmd.Dir = filepath.Join(t.root, folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compiling the tests of %s: %w\n%s", folder, err, out)
	}
	return binary, nil
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// run runs tests of a folder: those with these names, or all, for as long as limit. It returns the
// name of the first one that fails, or how else they fail; "" if they pass.
func (t *trial) run(folder, binary string, names []string, limit time.Duration) (by string) {
	args := []string{"-test.failfast", "-test.skip=" + skipped, "-test.timeout=" + limit.String()}
	if len(names) > 0 {
		args = append(args, "-test.run=^("+strings.Join(names, "|")+")$")
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.WaitDelay = filepath.Join(t.root, folder), time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	if t.verbose {
		fmt.Printf("%s\n", out)
	}
	if failed := failedTest.FindSubmatch(out); failed != nil {
		return string(failed[1])
	}
	for line := range strings.Lines(string(out)) { // of a panic in another goroutine, or a fault
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return strings.TrimSpace(line)
		}
	}
	return err.Error()
}

// Mutants says which tests notice when a line of the library is wrong:
//
//	go run ./mutants [-run REGEXP] [-all] [-v] [-check] [-list]
//
// The .txt files beside it list mutants: small changes, such as a guard that is taken out, each
// with the tests that should fail. For each mutant the program compiles these tests with the
// change, which an overlay of the go command makes (no file is touched), and runs them in their
// short form. It prints a line for each and the score. It fails if a mutant survives, unless the
// list says that it is equivalent to the original, or if an equivalent one is killed.
//
// It tries the test that the list names first, and the rest of the package's only if that passes.
// Equivalent mutants are tried only if -run names them or -all is set: all tests pass with them,
// which takes minutes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	root := flag.String("C", "../..", "the repository's `directory`")
	run := flag.String("run", "", "only mutants whose name matches this `regexp`")
	all := flag.Bool("all", false, "equivalent mutants, too")
	verbose := flag.Bool("v", false, "print what failing tests print")
	check := flag.Bool("check", false, "only check that the lists fit the sources")
	list := flag.Bool("list", false, "only list the mutants")
	limit := flag.Duration("timeout", 10*time.Minute, "how long the tests of a package may take; those that a list names get a tenth")
	flag.Parse()
	if err := start(*root, *run, *all, *verbose, *check, *list, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func start(root, run string, all, verbose, check, list bool, limit time.Duration) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	chosen, err := regexp.Compile(run)
	if err != nil {
		return err
	}
	mutants, err := readLists(filepath.Join(root, "internal/rehearse/mutants"))
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range mutants {
		errs = append(errs, m.fit(root))
	}
	if err := errors.Join(errs...); err != nil || check {
		return err
	}
	var tried []*mutant
	for _, m := range mutants {
		if chosen.MatchString(m.name) && (m.equivalent == "" || all || run != "") {
			tried = append(tried, m)
		}
	}
	if list {
		for _, m := range tried {
			fmt.Printf("%s\t%s\t%s\n", m.name, m.file, m.tests)
		}
		return nil
	}
	if len(tried) == 0 {
		return fmt.Errorf("no mutant matches %q", run)
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := trial{root, dir, limit, verbose, map[string]*program{}}
	if err := t.original(tried); err != nil {
		return err
	}
	return t.mutants(tried)
}

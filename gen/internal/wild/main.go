// Wild tries nocopyc on the .thrift files in public Go modules, Python packages and Maven
// artifacts. It downloads those in sources.txt, generates code from every file, and type-checks
// the code. It prints, for README.md, the number of files, and which were refused and why.
//
//	go run -C gen/internal ./wild [-v]
//
// It needs the network; no test does. With -v it prints the name of every file.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/internal/gocheck"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

func main() {
	log.SetFlags(0)
	verbose := flag.Bool("v", false, "print the name of every file")
	list := flag.String("sources", "wild/sources.txt", "what to download: a line each with \"go\", \"pypi\" or \"maven\", a name and a version")
	keep := flag.String("keep", "", "only download: keep the files in this `folder`, one folder for each source")
	command.ParseFlags()
	text, err := os.ReadFile(*list)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "wild")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	t := &trial{dir: dir, nocopyc: filepath.Join(dir, "nocopyc"), refused: map[string][]string{}}
	if out, err := exec.Command("go", "build", "-o", t.nocopyc, "github.com/nocopythrift/nocopythrift/gen/nocopyc").CombinedOutput(); err != nil {
		log.Fatalf("%v\n%s", err, out)
	}
	if t.check, err = gocheck.New(); err != nil {
		log.Fatal(err)
	}
	if *keep == "" {
		fmt.Print("| from | files | refused |\n|---|---|---|\n")
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if len(f) != 3 {
			log.Fatalf("%s: %q is not a kind, a name and a version", *list, line)
		}
		s := source{f[0], f[1], f[2]}
		if *keep != "" {
			if err := s.fetch(filepath.Join(*keep, strings.ReplaceAll(f[1], "/", "+"))); err != nil {
				log.Fatalf("%s: %v", s, err)
			}
			continue
		}
		t.source(s, *verbose)
	}
	if *keep != "" {
		return
	}
	fmt.Printf("| **all** | %d | %d |\n", t.files, t.failed)
	for _, why := range slices.Sorted(maps.Keys(t.refused)) {
		fmt.Printf("\n%s:\n", why)
		for _, file := range t.refused[why] {
			fmt.Printf("- %s\n", file)
		}
	}
	if t.wrong > 0 {
		log.Fatalf("%d files were accepted, but what was generated of them is wrong", t.wrong)
	}
}

// A trial has the results for all files so far.
type trial struct {
	dir, nocopyc         string
	check                *gocheck.Checker
	files, failed, wrong int
	refused              map[string][]string // files, by why they were refused
}

// source tries the files of a source and prints its row.
func (t *trial) source(s source, verbose bool) {
	root := filepath.Join(t.dir, "idl")
	defer os.RemoveAll(root)
	if err := s.fetch(root); err != nil {
		log.Fatalf("%s: %v", s, err)
	}
	files, failed := 0, t.failed
	filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".thrift" {
			return err
		}
		files++
		name, _ := filepath.Rel(root, file)
		name = strings.TrimPrefix(filepath.ToSlash(name), s.name+"@"+s.version+"/")
		if verbose {
			log.Println(s, name)
		}
		if why := t.file(root, file); why != "" {
			t.failed++
			t.refused[why] = append(t.refused[why], fmt.Sprintf("%s: `%s`", s.name, name))
		}
		return nil
	})
	t.files += files
	if files == 0 {
		log.Fatalf("%s has no .thrift files", s)
	}
	fmt.Printf("| %s | %d | %d |\n", s, files, t.failed-failed)
}

// file generates code from one file and the files that it includes, and checks it. It returns the
// reason if that was not possible, otherwise "".
func (t *trial) file(root, file string) string {
	out := filepath.Join(t.dir, "out")
	defer os.RemoveAll(out)
	args := []string{"-r", "-o", out, "-package-prefix", "wild", "-I", root}
	for dir := filepath.Dir(file); strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		args = append(args, "-I", dir)
	}
	if text, err := exec.Command(t.nocopyc, append(args, file)...).CombinedOutput(); err != nil {
		return reason(strings.ReplaceAll(string(text), root+string(filepath.Separator), ""))
	}
	made := map[string][]byte{}
	filepath.WalkDir(out, func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") {
			rel, _ := filepath.Rel(out, name)
			made[filepath.ToSlash(rel)], err = os.ReadFile(name)
		}
		return err
	})
	if err := t.check.Check("wild", made); err != nil {
		t.wrong++
		return "what was generated is wrong: " + err.Error()
	}
	return ""
}

// reason returns the first error in the output of nocopyc, without the place.
func reason(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.Contains(line, ": warning: ") {
			continue
		}
		if at := strings.Index(line, ".thrift:"); at >= 0 {
			if rest := strings.SplitN(line[at+len(".thrift:"):], ": ", 2); len(rest) == 2 {
				return rest[1]
			}
		}
		return line
	}
	return "no error was printed"
}

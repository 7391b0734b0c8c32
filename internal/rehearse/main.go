// Command rehearse tries a release before it is made: it packs the modules that programs install
// as the module proxy would, and follows documents literally, each in an empty folder.
//
//	go run -C internal/rehearse . [DOCUMENT...]
//
// A document's fenced blocks are the steps. Blocks of sh are run, in order, in one shell. A block
// whose first line also names a file, as in "```go main.go", is written to that file. All other
// blocks are left alone; nocopy/tests/built/documents compiles them.
//
// With -release it then builds the tool as it is released, into the folder dist, and tries it:
// archives, packages for Debian and Fedora, a container image, components, checksums and notes.
// The file .goreleaser.yaml says what is built. Nothing is published.
//
// It packs the working tree, without the files that git does not know. Other modules come from the
// module cache, or from the proxy that GOPROXY names.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"
)

// documents are followed if none are named.
var documents = []string{"README.md", "docs/getting-started.md", "docs/kitex.md", "docs/coming-from.md", "docs/builds.md"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("rehearse: ")
	keep := flag.Bool("keep", false, "keep the folder with the proxy and what the documents made")
	only := flag.Bool("pack", false, "pack, and follow no document")
	release := flag.Bool("release", false, "build and try all that a release has, and follow no document")
	flag.Parse()
	if *only || *release {
		documents = nil
	}
	if flag.NArg() > 0 {
		documents = flag.Args()
	}
	if err := rehearse(documents, *release, *keep); err != nil {
		log.Fatal(err)
	}
}

func rehearse(documents []string, release, keep bool) error {
	root, err := output("git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "rehearse")
	if err != nil {
		return err
	}
	if keep {
		fmt.Println("kept:", work)
	} else {
		defer os.RemoveAll(work)
	}
	proxy := filepath.Join(work, "proxy")
	version, err := generatorVersion(root)
	if err != nil {
		return err
	}
	revision, err := revisionOf(root)
	if err != nil {
		return err
	}
	large := packAll(root, revision, version, proxy)
	if large != nil && !errors.Is(large, errTooLarge) {
		return large
	}
	env, err := environment(work, proxy)
	if err != nil {
		return err
	}
	if release {
		if err := makeRelease(root, revision, version, work, env); err != nil {
			return err
		}
	}
	for _, name := range documents {
		began := time.Now()
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		dir := filepath.Join(work, filepath.Base(name))
		if err := os.Mkdir(dir, 0o777); err != nil {
			return err
		}
		steps, out, err := follow(string(text), dir, env)
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
		if steps == 0 {
			return fmt.Errorf("%s: nothing to follow: no block of sh", name)
		}
		fmt.Printf("%s: %d blocks followed in %.0f s\n", name, steps, time.Since(began).Seconds())
	}
	return large
}

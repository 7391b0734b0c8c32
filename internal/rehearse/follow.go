package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// environment returns the environment of the documents' commands: they install and download into
// work, and get our modules from proxy.
func environment(work, proxy string) ([]string, error) {
	cache, err := output("go", "env", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	others, err := output("go", "env", "GOPROXY")
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(work, "bin")
	return append(os.Environ(),
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(cache, "cache/download")+","+others,
		"GOMODCACHE="+filepath.Join(work, "modules"), "GOFLAGS=-modcacherw", "GOWORK=off", "GOSUMDB=off", "GOTOOLCHAIN=local",
		"GOBIN="+bin, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH")), nil
}

// fence matches a fenced block: its language, the file that it names, and its lines.
var fence = regexp.MustCompile("(?ms)^```(\\w+)(?: +(\\S+))?\n(.*?)^```$")

// follow executes the blocks of a document, in dir. It returns the number of blocks and the output
// of the commands.
func follow(text, dir string, env []string) (steps int, out string, err error) {
	var script strings.Builder
	script.WriteString("set -eux\n")
	commands := 0
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		language, file, body := block[1], block[2], block[3]
		switch {
		case file != "":
			if !filepath.IsLocal(file) {
				return 0, "", fmt.Errorf("a block names the file %s, which is outside of its folder", file)
			}
			fmt.Fprintf(&script, "mkdir -p '%s'\ncat >'%s' <<'END OF BLOCK'\n%sEND OF BLOCK\n", filepath.Dir(file), file, body)
			steps++
		case language == "sh":
			script.WriteString(body)
			steps++
			commands++
		}
	}
	if commands == 0 {
		return 0, "", nil
	}
	// The limit is for a program in a document that waits for ever by mistake.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash")
	cmd.Dir, cmd.Env = dir, env
	cmd.Stdin = strings.NewReader(script.String())
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	err = cmd.Run()
	return steps, printed.String(), err
}

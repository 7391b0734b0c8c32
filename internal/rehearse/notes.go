package main

import (
	"fmt"
	"regexp"
	"strings"
)

// relative matches a link to a file of the repository.
var relative = regexp.MustCompile(`\]\(([^):\s]+)\)`)

// notes returns the text of a version's section in a changelog, without its heading. Links to
// files become links to the files of this version. A version without a section has that of
// unreleased changes.
func notes(changelog, version string) (string, error) {
	for _, name := range []string{strings.TrimPrefix(version, "v"), "Unreleased"} {
		heading := regexp.MustCompile(`(?m)^## \[` + regexp.QuoteMeta(name) + `\].*\n`).FindStringIndex(changelog)
		if heading == nil {
			continue
		}
		text := changelog[heading[1]:]
		// The next section, or the links in the end.
		if end := regexp.MustCompile(`(?m)^(## |\[[^\]]+\]: )`).FindStringIndex(text); end != nil {
			text = text[:end[0]]
		}
		if text = strings.TrimSpace(text); text == "" {
			return "", fmt.Errorf("CHANGELOG.md: the section %s is empty", name)
		}
		return relative.ReplaceAllString(text, "](https://"+modulePath+"/blob/"+version+"/$1)") + "\n", nil
	}
	return "", fmt.Errorf("CHANGELOG.md has no section for %s, and none for unreleased changes", version)
}

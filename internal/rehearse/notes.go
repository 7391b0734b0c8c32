package main

import (
	"fmt"
	"regexp"
	"strings"
)

// notes returns the text of a version's section in a changelog, without its heading. A pre-release
// has the section of its version or, like a version that has none yet, that of unreleased changes.
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
		return text + "\n", nil
	}
	return "", fmt.Errorf("CHANGELOG.md has no section for %s, and none for unreleased changes", version)
}

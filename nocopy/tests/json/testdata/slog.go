// A program with log/slog, which generated code imports, and nothing of ours.
package main

import (
	"fmt"
	_ "log/slog"
)

func main() { fmt.Println() }

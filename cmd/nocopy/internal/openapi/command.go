package openapi

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/idlfiles"
	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
	"github.com/nocopythrift/nocopythrift/internal/command"
)

// Command describes services in OpenAPI.
type Command struct {
	Files []string `arg:"" optional:"" help:".thrift files with services, and folders of them; those of nocopy.yaml without."`

	Include    []string `short:"I" help:"Folder in which to look for included files." sep:"none" placeholder:"DIR"`
	Service    []string `help:"Services to describe; all if none is given." placeholder:"NAME"`
	Title      string   `help:"Title of the API." default:"Thrift services"`
	APIVersion string   `help:"Version of the API." default:"1.0.0"`
	Server     []string `help:"URL of a server, such as a gateway's." sep:"none" placeholder:"URL"`
	Format     string   `help:"Output: ${enum}." enum:"json,yaml" default:"json"`
}

// Help is the end of the command's help text.
func (Command) Help() string {
	return `Writes an OpenAPI 3.1 document of the routes that package gateway and nocopy console offer: those of
the annotations api.get, api.post and so on, and POST /Service/method for services without any.
A route or a field that can't be offered is left out, and a line of stderr tells why.

Exit codes: 0 done, 1 errors in files, or no method that can be offered, 2 wrong command line.

Examples:
  nocopy openapi idl/orders.thrift > openapi.json
  nocopy openapi -format yaml -title Orders -server http://localhost:8080 idl/orders.thrift`
}

// Run is called by the parser.
func (c *Command) Run(sh *shell.Shell) error {
	if len(c.Files) == 0 {
		return shell.WithCode(shell.Usage, errors.New("no file or folder is given; see nocopy openapi -h"))
	}
	set, err := idlfiles.Compile(sh, c.Files, c.Include)
	if err != nil {
		return err
	}
	doc, leftOut, err := Document(set, Options{Title: c.Title, Version: c.APIVersion, Servers: c.Server, Service: c.Service})
	if err != nil {
		return err
	}
	for _, reason := range leftOut {
		fmt.Fprintln(sh.Err, "left out:", shell.Printable(reason.Error()))
	}
	if c.Format != "yaml" {
		return sh.WriteJSON(doc)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		return err
	}
	e := yaml.NewEncoder(command.PrintingText(sh.Out))
	e.SetIndent(2)
	return errors.Join(e.Encode(tree), e.Close())
}

// Thrift-gen-nocopy is a plugin of thriftgo, and therefore of Kitex's generator. It generates the
// same code as "nocopyc -kitex".
//
//	go install github.com/nocopythrift/nocopythrift/gen/thrift-gen-nocopy@latest
//	kitex -thrift-plugin nocopy -module example.com/shop shop.thrift
//	thriftgo -g go -p nocopy shop.thrift
//
// It writes to the folder nocopy of the output directory, beside Kitex's own code. Parameters, as
// in "-p nocopy:out=DIR,package_prefix=PATH", give another folder, and its import path, which is
// needed outside Go modules. "compilers=thriftgo" leaves out warnings about Apache's compiler.
//
// A plugin gets a syntax tree without comments and positions, as a Thrift message on standard
// input. The plugin therefore reads the .thrift files that the tree names again, from the current
// directory.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nocopythrift/nocopythrift/gen/golang"
	"github.com/nocopythrift/nocopythrift/gen/idl"
	"github.com/nocopythrift/nocopythrift/gen/schema"
	"github.com/nocopythrift/nocopythrift/gen/thrift-gen-nocopy/internal/thriftgo/parser"
	"github.com/nocopythrift/nocopythrift/gen/thrift-gen-nocopy/internal/thriftgo/plugin"
	"github.com/nocopythrift/nocopythrift/nocopy"
)

//go:generate go run ../nocopyc -r -o internal/thriftgo ../internal/thriftgo/plugin/protocol.thrift

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "thrift-gen-nocopy:", err)
		os.Exit(1)
	}
}

// maxRequest is the largest size of a request in bytes.
const maxRequest = 1 << 30

// run reads a request and writes the response. The response contains errors in the request and in
// the files that it names.
func run(in io.Reader, out io.Writer) error {
	data, err := io.ReadAll(io.LimitReader(in, maxRequest+1))
	if err != nil {
		return err
	}
	res := plugin.NewResponse()
	if err := respond(data, res); err != nil {
		res = plugin.NewResponse()
		res.SetError("thrift-gen-nocopy: " + err.Error())
	}
	_, err = res.Message().WriteTo(out)
	return err
}

// respond fills the response to a request.
func respond(data []byte, res plugin.Response) error {
	req, err := plugin.ParseRequest(withoutTrailer(data), nocopy.Limits{MaxBytes: maxRequest, MaxDepth: 1 << 12})
	if err != nil {
		return fmt.Errorf("the request of thriftgo: %w", err)
	}
	opt := golang.Options{Recursive: req.GetRecursive(), Kitex: true}
	folder := filepath.Join(req.GetOutputPath(), "nocopy")
	readers := []idl.Compiler{idl.Apache, idl.Thriftgo}
	for _, p := range req.GetPluginParameters().All() {
		switch key, value, _ := strings.Cut(p, "="); key {
		case "out":
			folder = value
		case "package_prefix":
			opt.PackagePrefix = value
		case "compilers":
			if readers, err = idl.Compilers(value); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown parameter %q: there are out, package_prefix and compilers", key)
		}
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	files, warnings, err := generate(req.GetAST(), folder, readers, opt)
	if err != nil {
		return err
	}
	if len(warnings) > 0 {
		res.SetWarnings(warnings)
	}
	contents := res.NewContents(len(files))
	for i, f := range files {
		contents.At(i).SetContent(string(f.Source))
		contents.At(i).SetName(filepath.Join(folder, filepath.FromSlash(f.Path)))
	}
	return nil
}

// generate returns the files for the tree of a .thrift file, to be written into a folder. There
// are warnings about the compilers that are readers.
func generate(ast parser.Thrift, folder string, readers []idl.Compiler, opt golang.Options) ([]golang.File, []string, error) {
	set, err := schema.Load([]string{ast.GetFilename()}, includeFolders(ast))
	var warnings []string
	for _, w := range set.Warnings.For(readers) {
		warnings = append(warnings, fmt.Sprintf("%s:%d:%d: %s", w.Pos.Filename, w.Pos.Line, w.Pos.Column, w.Msg))
	}
	if err != nil {
		return nil, nil, err
	}
	if opt.ModulePath, err = golang.ImportPathOf(folder); err != nil {
		return nil, nil, err
	}
	files, err := golang.Generate(set, opt)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range golang.Warnings(set, opt) {
		warnings = append(warnings, fmt.Sprintf("%s:%d:%d: %s", w.Pos.Filename, w.Pos.Line, w.Pos.Column, w.Msg))
	}
	for _, n := range golang.Needs(set, opt) {
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(n.Path))); errors.Is(err, os.ErrNotExist) {
			warnings = append(warnings, fmt.Sprintf("the code needs %s, which is made from %s: give -r", n.Path, n.Source))
		}
	}
	return files, warnings, nil
}

// includeFolders returns the folders in which thriftgo has found the files that a tree includes,
// directly or indirectly, each once.
func includeFolders(ast parser.Thrift) []string {
	var folders []string
	seen := map[string]bool{}
	var visit func(ast parser.Thrift)
	visit = func(ast parser.Thrift) {
		for _, inc := range ast.GetIncludes().All() {
			name := inc.GetReference().GetFilename()
			if strings.HasPrefix(name, sameFile) {
				continue
			}
			path := filepath.Clean(filepath.FromSlash(inc.GetPath()))
			folder, ok := strings.CutSuffix(filepath.Clean(name), path)
			if folder = filepath.Clean(folder); ok && !filepath.IsAbs(path) && !seen[folder] {
				seen[folder] = true
				folders = append(folders, folder)
			}
			visit(inc.GetReference())
		}
	}
	visit(ast)
	return folders
}

const (
	// sameFile precedes the name of a file that came before in the tree, if thriftgo compresses
	// trees.
	sameFile = "THRIFGO_REF:"

	// trailer ends a request that has additional information in the byte before it.
	trailer = "\xffTHRIFTGO_TRAILER_V1\xff"
)

// withoutTrailer returns the Thrift message of a request.
func withoutTrailer(data []byte) []byte {
	if rest, ok := bytes.CutSuffix(data, []byte(trailer)); ok && len(rest) > 0 {
		return rest[:len(rest)-1]
	}
	return data
}

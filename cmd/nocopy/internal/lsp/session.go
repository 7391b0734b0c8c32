package lsp

import (
	"context"
	"slices"

	"github.com/sourcegraph/jsonrpc2"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/lint"
	"github.com/nocopythrift/nocopythrift/gen/golang"
)

// initializeParams is the part of protocol.InitializeParams that matters. Newer editors may send
// other parts in forms that the protocol's types do not know.
type initializeParams struct {
	RootURI          *string                    `json:"rootUri"`
	RootPath         *string                    `json:"rootPath"`
	WorkspaceFolders []protocol.WorkspaceFolder `json:"workspaceFolders"`
	Capabilities     struct {
		Workspace struct {
			DidChangeWatchedFiles struct {
				DynamicRegistration bool `json:"dynamicRegistration"`
			} `json:"didChangeWatchedFiles"`
		} `json:"workspace"`
	} `json:"capabilities"`
}

func (s *server) initialize(p *initializeParams) (any, error) {
	if s.initialized {
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "initialized before"}
	}
	s.initialized = true
	s.watched = p.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration
	var roots []string
	for _, f := range p.WorkspaceFolders {
		roots = append(roots, pathOf(f.URI))
	}
	switch {
	case roots != nil:
	case p.RootURI != nil:
		roots = []string{pathOf(*p.RootURI)}
	case p.RootPath != nil:
		roots = []string{*p.RootPath}
	}
	s.setRoots(roots)
	yes, sync := true, protocol.TextDocumentSyncKindIncremental
	return protocol.InitializeResult{
		ServerInfo: &protocol.InitializeResultServerInfo{Name: "nocopy", Version: new(golang.Version)},
		Capabilities: protocol.ServerCapabilities{
			TextDocumentSync:                protocol.TextDocumentSyncOptions{OpenClose: &yes, Change: &sync, Save: true},
			CompletionProvider:              &protocol.CompletionOptions{TriggerCharacters: []string{".", "\"", "(", "<", ":", "=", "/"}},
			HoverProvider:                   true,
			DefinitionProvider:              true,
			ReferencesProvider:              true,
			DocumentSymbolProvider:          true,
			WorkspaceSymbolProvider:         true,
			CodeActionProvider:              protocol.CodeActionOptions{CodeActionKinds: []string{protocol.CodeActionKindQuickFix, protocol.CodeActionKindRefactor, fixAll}},
			DocumentFormattingProvider:      true,
			DocumentRangeFormattingProvider: true,
			RenameProvider:                  protocol.RenameOptions{PrepareProvider: &yes},
			FoldingRangeProvider:            true,
			SemanticTokensProvider:          protocol.SemanticTokensOptions{Legend: legend, Full: true},
			Workspace: &protocol.ServerCapabilitiesWorkspace{WorkspaceFolders: &protocol.WorkspaceFoldersServerCapabilities{
				Supported: &yes, ChangeNotifications: &protocol.BoolOrString{Value: true}}},
		},
	}, nil
}

// setRoots sets the folders that are open.
func (s *server) setRoots(roots []string) {
	s.roots = nil
	for _, root := range roots {
		if root != "" {
			s.roots = append(s.roots, canonical(root))
		}
	}
	for name, f := range s.files { // those of other folders are not the workspace's any more
		if f.table == nil {
			s.drop(name)
		}
	}
	s.configure()
	s.listed = false
}

// configure sets the folders for included files.
func (s *server) configure() {
	a := analyzer{warn: func(string) {}} // the analyzer itself warns
	_, s.workspace.dirs = a.configuration(&snapshot{roots: s.roots, dirs: s.dirs})
}

// start asks the editor to tell changes on disk. The answer does not matter.
func (s *server) start(*any) (any, error) {
	if s.watched {
		params := protocol.RegistrationParams{Registrations: []protocol.Registration{{
			ID: "files", Method: protocol.MethodWorkspaceDidChangeWatchedFiles,
			RegisterOptions: protocol.DidChangeWatchedFilesRegistrationOptions{Watchers: []protocol.FileSystemWatcher{
				{GlobPattern: "**/*.thrift"}, {GlobPattern: "**/" + lint.ConfigFile}, {GlobPattern: "**/" + lint.ThriftcheckFile}}},
		}}}
		_, _ = s.conn.DispatchCall(context.Background(), protocol.ServerClientRegisterCapability, params)
	}
	return nil, nil
}

func (s *server) didOpen(p *protocol.DidOpenTextDocumentParams) (any, error) {
	if len(p.TextDocument.Text) > maxFile || p.TextDocument.URI == "" {
		return nil, failed("the document is larger than %d MB", maxFile>>20)
	}
	s.set(p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text)
	s.changed, s.disk = true, true
	return nil, nil
}

func (s *server) didChange(p *protocol.DidChangeTextDocumentParams) (any, error) {
	d := s.open[p.TextDocument.URI]
	if d == nil {
		return nil, nil
	}
	src := d.file.src
	for _, c := range p.ContentChanges {
		var err error
		if src, err = changed(src, c); err != nil {
			return nil, err
		}
	}
	s.set(d.uri, p.TextDocument.Version, src)
	s.changed = true
	return nil, nil
}

func (s *server) didClose(p *protocol.DidCloseTextDocumentParams) (any, error) {
	s.close(p.TextDocument.URI)
	s.changed = true
	return nil, nil
}

func (s *server) didSave(*protocol.DidSaveTextDocumentParams) (any, error) {
	s.configure()
	s.disk = true
	return nil, nil
}

func (s *server) didChangeFiles(p *protocol.DidChangeWatchedFilesParams) (any, error) {
	s.configure()
	for _, c := range p.Changes {
		if name := pathOf(c.URI); name != "" {
			s.rest = append(s.rest, name)
		}
	}
	s.disk = true
	return nil, nil
}

func (s *server) didChangeFolders(p *protocol.DidChangeWorkspaceFoldersParams) (any, error) {
	roots := slices.Clone(s.roots) // a snapshot has the others
	for _, f := range p.Event.Removed {
		roots = slices.DeleteFunc(roots, func(root string) bool { return root == canonical(pathOf(f.URI)) })
	}
	for _, f := range p.Event.Added {
		roots = append(roots, pathOf(f.URI))
	}
	s.setRoots(roots)
	s.disk = true
	return nil, nil
}

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nocopythrift/nocopythrift/cmd/nocopy/internal/shell"
)

// neovim has the steps that a user of Neovim takes. It works with 0.7, which Debian 12 has, and
// later. Each step notes its result in the table that is written at the end.
const neovim = `
local out, ok = {}, pcall
local function wait(what, is)
  if not vim.wait(60000, is, 20) then error('no ' .. what) end
end
local function run()
  vim.cmd('edit shop.thrift')
  local id = vim.lsp.start_client({name = 'nocopy', cmd = {'nocopy', 'lsp'}, root_dir = vim.fn.getcwd()})
  vim.lsp.buf_attach_client(0, id)
  wait('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
  out.before = ''
  for _, d in ipairs(vim.diagnostic.get(0)) do out.before = out.before .. d.message .. '. ' end
  vim.api.nvim_buf_set_text(0, 3, 5, 3, 11, {'money.Amount'})
  wait('end of diagnostics', function() return #vim.diagnostic.get(0) == 0 end)
  local function ask(method, line, column, more)
    local params = vim.tbl_extend('force', {textDocument = vim.lsp.util.make_text_document_params(), position = {line = line, character = column}}, more or {})
    local answers, err = vim.lsp.buf_request_sync(0, method, params, 60000)
    if not answers then error(method .. ': ' .. tostring(err)) end
    for _, a in pairs(answers) do
      if a.err then error(method .. ': ' .. a.err.message) end
      return a.result
    end
  end
  out.hover = ask('textDocument/hover', 3, 13).contents.value
  local target = ask('textDocument/definition', 3, 13)
  out.definition = vim.fn.fnamemodify(vim.uri_to_fname(target.uri), ':t') .. ':' .. (target.range.start.line + 1)
  local labels = {}
  for _, item in ipairs(ask('textDocument/completion', 4, 2).items) do table.insert(labels, item.label) end
  out.completion = table.concat(labels, ' ')
  local client = vim.lsp.get_client_by_id(id)
  vim.lsp.util.apply_workspace_edit(ask('textDocument/rename', 3, 13, {newName = 'Sum'}), client.offset_encoding)
  vim.lsp.util.apply_text_edits(ask('textDocument/formatting', 0, 0, {options = {tabSize = 2, insertSpaces = true}}), 0, client.offset_encoding)
  out.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  vim.cmd('silent wall')
  vim.lsp.stop_client(id)
  wait('end of the server', function() return client.is_stopped() end)
end
local done, err = pcall(run)
if not done then out.error = tostring(err) end
vim.fn.writefile({vim.fn.json_encode(out)}, 'result.json')
vim.cmd('qall!')
`

// TestNeovim has a real editor speak with the tool.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("Neovim is not installed")
	}
	sh := newShell(t)
	dir := sh.dir
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("money.thrift", "// A sum 😀.\nstruct Amount { 1: i64 cents }\n")
	write("shop.thrift", "include \"money.thrift\"\n\nstruct Item {\n  1: Amount price // é😀\n  \n}\n")
	write("steps.lua", neovim)
	cmd := exec.Command(nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile steps.lua")
	cmd.Dir = dir
	cmd.Env = append(sh.env, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got["error"] != "" {
		t.Fatal(got["error"])
	}
	for key, want := range map[string]string{
		"before": "unknown type Amount", "hover": "A sum 😀.", "definition": "money.thrift:2", "completion": "2: ",
		"text": "include \"money.thrift\"\n\nstruct Item {\n  1: money.Sum price // é😀\n\n}",
	} {
		if !strings.Contains(got[key], want) {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
	if money, _ := os.ReadFile(filepath.Join(dir, "money.thrift")); !strings.Contains(string(money), "struct Sum {") {
		t.Errorf("the included file is %s", money)
	}
}

// TestExtension: VS Code's grammar knows all words of the IDL, and its settings are flags of lsp.
func TestExtension(t *testing.T) {
	dir := filepath.Join("..", "..", "editors", "vscode")
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".json") && !json.Valid(text) {
			t.Errorf("%s is no JSON", name)
		}
		return string(text)
	}
	grammar := read("syntaxes/thrift.tmLanguage.json")
	for word := range strings.FieldsSeq(`namespace cpp_include cpp_type include void bool byte i8 i16 i32 i64 double string binary uuid map list set
		oneway async typedef struct union exception extends throws service enum const required optional`) {
		if !strings.Contains(grammar, word) {
			t.Errorf("the grammar has no %s", word)
		}
	}
	read("language-configuration.json")
	read("package-lock.json")
	settings, code := read("package.json"), read("src/extension.ts")
	if !strings.Contains(settings, `"nocopy.include"`) || !strings.Contains(code, "['-I', path.resolve(") || !strings.Contains(code, "['lsp', ") {
		t.Error("the extension does not start nocopy lsp -I DIR")
	}
	var out, errs strings.Builder
	if code := run([]string{"lsp", "-I", dir}, shell.Of(t.Context(), strings.NewReader(""), &out, &errs)); code != 1 {
		t.Errorf("without an editor, lsp exits with %d, want 1", code)
	}
}

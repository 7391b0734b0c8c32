// The extension starts "nocopy lsp", which does all the work.
import * as os from 'os';
import * as path from 'path';
import * as vscode from 'vscode';
import { LanguageClient, LanguageClientOptions, ServerOptions } from 'vscode-languageclient/node';

let client: LanguageClient | undefined;

// start starts the server that the settings name.
async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration('nocopy');
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? os.homedir();
  const named = settings.get<string>('path') || 'nocopy';
  const command = path.basename(named) === named ? named : path.resolve(folder, named);
  const args = ['lsp', ...settings.get<string[]>('include', []).flatMap((dir) => ['-I', path.resolve(folder, dir)])];
  // Windows looks for a command in the working directory first. The workspace may be a stranger's.
  const server: ServerOptions = { command, args, options: { cwd: os.homedir() } };
  const options: LanguageClientOptions = { documentSelector: [{ language: 'thrift' }] };
  client = new LanguageClient('nocopy', 'Thrift by nocopy', server, options);
  try {
    await client.start();
  } catch (err) {
    client = undefined;
    const install = 'How to install it';
    const chosen = await vscode.window.showErrorMessage(`${command} lsp does not start: ${err}`, install);
    if (chosen === install) {
      await vscode.env.openExternal(vscode.Uri.parse('https://github.com/nocopythrift/nocopythrift/blob/main/docs/editors.md'));
    }
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand('nocopy.restart', restart),
    vscode.workspace.onDidChangeConfiguration((change) => (change.affectsConfiguration('nocopy') ? restart() : undefined)),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}

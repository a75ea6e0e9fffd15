// The VS Code side of skewlens. All that is said about a program comes from the
// server; this starts it, passes commands on, and shows what VS Code would not
// show by itself: a run with a Cancel button, the list of causes, the report.
import * as vscode from 'vscode';
import { Causes } from './causes';
import { Arguments, Connection } from './client';
import { Heat } from './heat';
import { openReport } from './report';
import { install, sayMissing } from './server';
import { Status } from './status';

let connection: Connection;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  connection = new Connection();
  const heat = new Heat(connection);
  context.subscriptions.push(
    connection,
    heat,
    new Status(connection),
    vscode.window.createTreeView('skewlens.causes', { treeDataProvider: new Causes(connection) }),
    vscode.workspace.registerTextDocumentContentProvider('skewlens', { provideTextDocumentContent: page => pages.get(page.path) }),
    vscode.workspace.onDidChangeConfiguration(async event => {
      if (event.affectsConfiguration('skewlens.path')) await restart();
    }),
  );
  const commands: Record<string, (args?: Arguments) => unknown> = {
    'skewlens.profileSection': args => connection.run('skewlens.profileSection', args ?? here()),
    'skewlens.profileTarget': args => runTarget('skewlens.profileTarget', args),
    'skewlens.scaleTarget': args => runTarget('skewlens.scaleTarget', args),
    'skewlens.openReport': args => openReport(connection, args ?? here()),
    'skewlens.nextCause': args => connection.execute('skewlens.nextCause', args ?? here()),
    'skewlens.compare': args => connection.execute('skewlens.compare', args ?? here()),
    'skewlens.clear': args => connection.execute('skewlens.clear', args),
    'skewlens.cancel': () => connection.execute('skewlens.cancel'),
    'skewlens.finish': () => connection.execute('skewlens.finish'),
    'skewlens.explain': explain,
    'skewlens.configure': configure,
    'skewlens.toggleHeat': () => heat.toggle(),
    'skewlens.show': showLine,
    'skewlens.install': install,
    'skewlens.showLog': () => connection.log.show(),
    'skewlens.restart': restart,
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
  await firstUse(context);
  void start();
}

export async function deactivate(): Promise<void> {
  await connection?.stop();
}

async function restart(): Promise<void> {
  await connection.stop();
  await start();
}

async function start(): Promise<void> {
  try {
    if (!(await connection.start())) void sayMissing();
  } catch (error) {
    const text = `skewlens: the server did not start: ${error instanceof Error ? error.message : error}`;
    if (await vscode.window.showErrorMessage(text, 'Show Log')) connection.log.show();
  }
}

/** Where the cursor is, as far as that means anything to the server. */
function here(): Arguments {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== 'file') return {};
  return { uri: editor.document.uri.toString(), line: editor.selection.active.line };
}

async function runTarget(command: string, args?: Arguments): Promise<void> {
  const chosen = args ?? (await chooseTarget());
  if (chosen) await connection.run(command, chosen);
}

/** Asks only when there is a choice. */
async function chooseTarget(): Promise<Arguments | undefined> {
  const targets = (await connection.ask<{ name: string; program: string }[]>('skewlens.targets')) ?? [];
  if (targets.length < 2) return here();
  const items = targets.map(target => ({ label: target.name, description: target.program }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: 'Which program?' });
  return chosen && { target: chosen.label };
}

/**
 * Opens .skewlens.toml. Where there is none, what was run or can be found is written
 * there; where nothing can, it is a proposal, and saving it is left to the person.
 */
async function configure(): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (!folder) {
    void vscode.window.showInformationMessage('skewlens: open a folder first.');
    return;
  }
  const file = vscode.Uri.joinPath(folder, '.skewlens.toml');
  if (await show(file)) return;
  const written = await connection.ask<{ uri?: string }>('skewlens.remember', here(), true);
  if (written?.uri && (await show(vscode.Uri.parse(written.uri)))) return;
  const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(file.with({ scheme: 'untitled' })));
  if (editor.document.getText() !== '') return;
  await editor.insertSnippet(new vscode.SnippetString([
    '[[target]]                # the first is the default',
    'name = "${1:prog}"',
    'build = "${2:make}"       # run first; leave it out if the program is always built',
    'program = "${3:$1}"       # relative to this folder',
    'args = ["{threads}"]      # {threads} becomes the number below',
    'threads = ${4:8}',
    '',
  ].join('\n')));
}

/** What is shown under the scheme skewlens, by path. */
const pages = new Map<string, string>();

/** Shows what the kind of a cause means, as a page beside the text. */
async function explain(args?: Arguments): Promise<void> {
  const answer = await connection.execute<{ text: string }>('skewlens.explain', { ...(args ?? here()), embed: true });
  if (!answer) return;
  const page = vscode.Uri.from({ scheme: 'skewlens', path: `/${answer.text.match(/^# (\w+)/)?.[1] ?? 'cause'}.md` });
  pages.set(page.path, answer.text);
  await vscode.commands.executeCommand('markdown.showPreviewToSide', page);
}

/** Shows a line beside the report whose link was clicked. */
async function showLine(args?: Arguments): Promise<void> {
  if (!args?.uri) return;
  const at = new vscode.Position(args.line ?? 0, 0);
  await vscode.window.showTextDocument(vscode.Uri.parse(args.uri), { viewColumn: vscode.ViewColumn.One, selection: new vscode.Range(at, at) });
}

async function show(file: vscode.Uri): Promise<boolean> {
  try {
    await vscode.window.showTextDocument(file);
    return true;
  } catch {
    return false; // it is not there yet
  }
}

/** Offers the walkthrough, once. */
async function firstUse(context: vscode.ExtensionContext): Promise<void> {
  if (context.globalState.get('welcomed')) return;
  await context.globalState.update('welcomed', true);
  const text = 'skewlens finds the line that makes the threads of a parallel program wait.';
  void vscode.window.showInformationMessage(text, 'Show Me How').then(answer => {
    if (answer) void vscode.commands.executeCommand('workbench.action.openWalkthrough', `${context.extension.id}#start`, false);
  });
}

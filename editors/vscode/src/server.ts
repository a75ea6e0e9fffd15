// Finding the skewlens program, and what to say when it is not there.
import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import * as vscode from 'vscode';

export const installCommand = 'go install github.com/skewlens/skewlens@latest';

/** Returns the path of the program: the setting, else PATH and where Go puts programs. */
export function findServer(): string | undefined {
  const set = vscode.workspace.getConfiguration('skewlens').get<string>('path', '').trim();
  if (set) {
    const path = set.startsWith('~/') ? join(homedir(), set.slice(2)) : set;
    return executable(path) ? path : undefined;
  }
  const folders = (process.env.PATH ?? '').split(delimiter);
  if (process.env.GOBIN) folders.push(process.env.GOBIN);
  for (const path of (process.env.GOPATH || join(homedir(), 'go')).split(delimiter)) folders.push(join(path, 'bin'));
  return folders.filter(Boolean).map(folder => join(folder, 'skewlens')).find(executable);
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Says that the program is missing, and offers the two things that help. */
export async function sayMissing(): Promise<void> {
  const set = vscode.workspace.getConfiguration('skewlens').get<string>('path', '').trim();
  const text = set
    ? `skewlens: the setting skewlens.path names ${set}, which is not a program.`
    : 'skewlens: the skewlens program was found neither in PATH nor in GOPATH/bin.';
  const answer = await vscode.window.showWarningMessage(text, 'Install', 'Say Where It Is');
  if (answer === 'Install') install();
  if (answer === 'Say Where It Is') {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'skewlens.path');
  }
}

/** Types the command into a terminal; pressing Enter is left to the person. */
export function install(): void {
  const terminal = vscode.window.createTerminal('install skewlens');
  terminal.show();
  terminal.sendText(installCommand, false);
}

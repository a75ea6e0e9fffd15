// The report: the server's page in a panel, or in the browser.
import * as vscode from 'vscode';
import { Arguments, Connection } from './client';

let panel: vscode.WebviewPanel | undefined;

export async function openReport(connection: Connection, args: Arguments): Promise<void> {
  if (vscode.workspace.getConfiguration('skewlens').get('report') === 'browser') {
    await connection.execute('skewlens.openReport', args);
    return;
  }
  const answer = await connection.execute<{ html?: string }>('skewlens.openReport', { ...args, embed: true });
  if (!answer) return;
  if (!answer.html) {
    // No page: let the server show what it has.
    await connection.execute('skewlens.openReport', args);
    return;
  }
  if (!panel) {
    // The page brings all it needs, and has no scripts; its links open lines.
    const options = { enableScripts: false, enableCommandUris: ['skewlens.show'], localResourceRoots: [], enableFindWidget: true };
    panel = vscode.window.createWebviewPanel('skewlens.report', 'skewlens report', vscode.ViewColumn.Beside, options);
    panel.onDidDispose(() => (panel = undefined));
  }
  panel.webview.html = answer.html;
  panel.reveal(undefined, true);
}

// Where the work is: a bar in the gutter of each line, the stronger the more of its
// section's instructions it has. Off until somebody turns it on.
import * as vscode from 'vscode';
import { Connection } from './client';

interface Line {
  line: number;
  share: number;
  section: string;
}

/** From these shares on, a bar is one step stronger. */
const steps = [0, 0.02, 0.05, 0.15, 0.4];

export class Heat implements vscode.Disposable {
  private readonly kinds = steps.map((_, step) => vscode.window.createTextEditorDecorationType({
    gutterIconPath: bar((step + 1) / steps.length),
    gutterIconSize: 'cover',
    overviewRulerColor: `rgba(217, 89, 38, ${(step + 1) / steps.length})`,
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  }));
  private readonly watched: vscode.Disposable[];

  constructor(private readonly connection: Connection) {
    this.watched = [
      connection.onResults(() => this.show()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.show()),
      vscode.workspace.onDidChangeConfiguration(event => {
        if (event.affectsConfiguration('skewlens.heat')) this.show();
      }),
    ];
  }

  toggle(): Thenable<void> {
    return vscode.workspace.getConfiguration('skewlens').update('heat', !enabled(), vscode.ConfigurationTarget.Global);
  }

  private show(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme === 'file') void this.draw(editor);
    }
  }

  private async draw(editor: vscode.TextEditor): Promise<void> {
    const uri = editor.document.uri.toString();
    const answer = enabled() ? await this.connection.ask<{ lines: Line[] }>('skewlens.heat', { uri }, true) : undefined;
    const bars: vscode.DecorationOptions[][] = steps.map(() => []);
    for (const { line, share, section } of answer?.lines ?? []) {
      if (line >= editor.document.lineCount) continue;
      const step = steps.filter(from => share >= from).length - 1;
      const percent = share < 0.1 ? (100 * share).toFixed(1) : Math.round(100 * share);
      bars[step].push({ range: editor.document.lineAt(line).range, hoverMessage: `${percent} % of the instructions of section ${section}` });
    }
    this.kinds.forEach((kind, step) => editor.setDecorations(kind, bars[step]));
  }

  dispose(): void {
    for (const each of [...this.watched, ...this.kinds]) each.dispose();
  }
}

function enabled(): boolean {
  return vscode.workspace.getConfiguration('skewlens').get<boolean>('heat', false);
}

function bar(strength: number): vscode.Uri {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect x="11" width="4" height="16" fill="#d95926" fill-opacity="${strength}"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
}

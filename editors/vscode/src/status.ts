// The status bar: how far a run is, and what the last one found.
import * as vscode from 'vscode';
import { Connection } from './client';

interface Target {
  target: string;
  message: string;
  sections: { imbalance?: number; negligible?: boolean }[];
}

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('skewlens.status', vscode.StatusBarAlignment.Left);
  private readonly watched: vscode.Disposable[];

  constructor(private readonly connection: Connection) {
    this.item.name = 'skewlens';
    this.watched = [connection.onResults(() => this.found()), connection.onProgress(text => this.runs(text))];
  }

  private runs(text: string | undefined): void {
    if (text === undefined) return void this.found();
    this.item.text = `$(sync~spin) skewlens ${text}`;
    this.item.tooltip = 'Cancel';
    this.item.command = 'skewlens.cancel';
    this.item.show();
  }

  private async found(): Promise<void> {
    const answer = await this.connection.ask<{ targets: Target[] }>('skewlens.causes', {}, true);
    if (this.connection.busy) return;
    const targets = answer?.targets ?? [];
    if (targets.length === 0) return this.item.hide();
    const worst = Math.max(0, ...targets.flatMap(t => t.sections.map(s => (s.negligible ? 0 : s.imbalance ?? 0))));
    this.item.text = `$(graph) ${Math.round(100 * worst)} % imbalance`;
    this.item.tooltip = targets.map(t => `${t.target}: ${t.message}`).join('\n');
    this.item.command = 'skewlens.causes.focus';
    this.item.show();
  }

  dispose(): void {
    for (const each of [...this.watched, this.item]) each.dispose();
  }
}

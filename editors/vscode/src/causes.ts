// The list of ranked causes: what `skewlens.causes` answers, as a tree.
import * as vscode from 'vscode';
import { Connection, setContext, tick } from './client';

interface Cause {
  rank: number;
  message: string;
  share: number;
  uri?: string;
  range?: Range;
  why?: string; // there is no range
  stale: boolean;
}

interface Range {
  start: { line: number; character: number };
  end: { line: number; character: number };
}

interface Section {
  id: string;
  title: string;
  balanced: boolean;
  uri?: string;
  range?: Range;
  causes: Cause[];
}

interface Target {
  target: string;
  stale: boolean;
  message: string;
  runs?: number[]; // their imbalance, oldest first
  sections: Section[];
}

type Node = { target: Target } | { section: Section } | { cause: Cause };

export class Causes implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly connection: Connection) {
    connection.onResults(() => {
      this.changed.fire();
      void this.targets(); // what the palette offers depends on it, whether the list is shown or not
    });
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (!node) return this.roots();
    if ('target' in node) return node.target.sections.map(section => ({ section }));
    if ('section' in node) return node.section.causes.map(cause => ({ cause }));
    return [];
  }

  private async targets(): Promise<Target[]> {
    const answer = await this.connection.ask<{ targets: Target[] }>('skewlens.causes');
    const targets = answer?.targets ?? [];
    await setContext('skewlens.results', targets.length > 0);
    if (targets.length > 0) tick('skewlens.ran');
    return targets;
  }

  private async roots(): Promise<Node[]> {
    const targets = await this.targets();
    // With one target there is nothing to choose: its sections are at the top.
    return targets.length === 1 ? targets[0].sections.map(section => ({ section })) : targets.map(target => ({ target }));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if ('target' in node) {
      const item = new vscode.TreeItem(node.target.target, vscode.TreeItemCollapsibleState.Expanded);
      item.description = node.target.message;
      item.tooltip = [node.target.message, trend(node.target)].filter(Boolean).join('\n');
      return item;
    }
    if ('section' in node) {
      const { section } = node;
      const state = section.causes.length ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.None;
      const item = new vscode.TreeItem(section.id, state);
      item.description = section.title;
      item.tooltip = `${section.id}\n${section.title}`;
      item.iconPath = new vscode.ThemeIcon(section.causes.length ? 'warning' : section.balanced ? 'pass' : 'info');
      item.command = open(section);
      return item;
    }
    const { cause } = node;
    const item = new vscode.TreeItem(`#${cause.rank} · ${Math.round(cause.share * 100)} %`);
    const place = where(cause);
    item.description = cause.stale && cause.range ? `${place} · edited since` : place;
    item.tooltip = cause.message;
    item.iconPath = new vscode.ThemeIcon(cause.range ? 'graph' : 'question');
    item.command = open(cause);
    return item;
  }
}

/** How imbalanced the last runs were. */
function trend({ runs }: Target): string {
  if (!runs || runs.length < 2) return '';
  return `last runs: ${runs.slice(-10).map(x => `${Math.round(x * 100)} %`).join(' → ')}`;
}

/** The place of a cause, or why it has none. */
function where(cause: Cause): string {
  if (!cause.uri || !cause.range) return cause.why ?? 'no source line is known';
  return `${vscode.workspace.asRelativePath(vscode.Uri.parse(cause.uri))}:${cause.range.start.line + 1}`;
}

/** Shows a place without taking the whole line into the selection. */
function open(place: { uri?: string; range?: Range }): vscode.Command | undefined {
  if (!place.uri || !place.range) return undefined;
  const { line, character } = place.range.start;
  const selection = new vscode.Range(line, character, line, character);
  return { title: 'Show', command: 'vscode.open', arguments: [vscode.Uri.parse(place.uri), { selection }] };
}

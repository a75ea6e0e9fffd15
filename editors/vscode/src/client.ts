// The connection to `skewlens serve`, and running its commands.
import * as vscode from 'vscode';
import {
  DynamicFeature, ExecuteCommandRequest, LanguageClient, ServerOptions, StaticFeature, WorkDoneProgress,
  WorkDoneProgressCancelNotification,
} from 'vscode-languageclient/node';
import { findServer, sayMissing } from './server';

/** What every command of the server may be given; all of it is optional. */
export interface Arguments {
  uri?: string;
  line?: number;
  section?: string;
  target?: string;
  embed?: boolean;
}

interface Outcome {
  outcome: 'completed' | 'failed' | 'cancelled';
  message: string;
}

const languages = ['c', 'cpp', 'go', 'rust', 'fortran', 'fortran-modern', 'FortranFreeForm', 'FortranFixedForm', 'd', 'nim', 'ocaml', 'pascal', 'objectpascal'];

/**
 * The library would register each of the server's commands. They are registered
 * by the extension instead, so that they are there, and say what is missing,
 * before a server runs.
 */
class Client extends LanguageClient {
  override registerFeature(feature: StaticFeature | DynamicFeature<any>): void {
    if ((feature as DynamicFeature<any>).registrationType?.method !== ExecuteCommandRequest.method) {
      super.registerFeature(feature);
    }
  }
}

export class Connection implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires when the server has other results than before. */
  readonly onResults = this.changed.event;
  private readonly went = new vscode.EventEmitter<string | undefined>();
  /** Fires with how far a run is, and with nothing when none is left. */
  readonly onProgress = this.went.event;
  /** How many runs there are. */
  busy = 0;
  readonly log = vscode.window.createOutputChannel('skewlens', { log: true });
  private runs = 0;

  async start(): Promise<boolean> {
    const command = findServer();
    if (!command) return false;
    tick('skewlens.found');
    const server: ServerOptions = { command, args: ['serve'] };
    const client = new Client('skewlens', 'skewlens', server, {
      documentSelector: [
        ...languages.map(language => ({ scheme: 'file', language })),
        { scheme: 'file', pattern: '**/.skewlens.toml' },
      ],
      initializationOptions: { resultsChanged: true, answers: true, diagnosticsInHover: true },
      outputChannel: this.log,
    });
    client.onNotification('skewlens/resultsChanged', () => this.changed.fire());
    client.onRequest('skewlens/choose', choose);
    client.onRequest('skewlens/ask', ask);
    await client.start();
    this.client = client;
    this.changed.fire();
    return true;
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose();
    this.changed.fire();
  }

  get running(): boolean {
    return this.client !== undefined;
  }

  /** Sends a command. Without a server it says how to get one, and answers nothing. */
  async execute<T>(command: string, args: Arguments = {}, workDoneToken?: string, quiet = false): Promise<T | undefined> {
    if (!this.client && !(await this.start())) {
      void sayMissing();
      return undefined;
    }
    const params = { command, arguments: [args], workDoneToken };
    try {
      return (await this.client!.sendRequest(ExecuteCommandRequest.type, params)) as T;
    } catch (error) {
      if (!quiet) void vscode.window.showErrorMessage(`skewlens: ${error instanceof Error ? error.message : error}`);
      return undefined;
    }
  }

  /** Asks without a word of complaint when there is no server or, if quiet, no answer. */
  async ask<T>(command: string, args: Arguments = {}, quiet = false): Promise<T | undefined> {
    return this.client ? this.execute<T>(command, args, undefined, quiet) : undefined;
  }

  /** Runs the program, under a notification with a bar and a Cancel button. */
  async run(command: string, args: Arguments): Promise<void> {
    if (!this.client && !(await this.start())) return sayMissing();
    const client = this.client!;
    const options = { location: vscode.ProgressLocation.Notification, cancellable: true, title: 'skewlens' };
    const outcome = await vscode.window.withProgress(options, async (progress, cancelled) => {
      const token = `skewlens-${Date.now()}-${this.runs++}`;
      let shown = 0;
      let title = '';
      const updates = client.onProgress(WorkDoneProgress.type, token, value => {
        if (value.kind === 'end') return;
        if (value.kind === 'begin') title = value.title;
        const reached = value.percentage ?? shown;
        this.went.fire(value.percentage === undefined ? title : `${value.percentage} %`);
        progress.report({ message: [title, value.message].filter(Boolean).join(': '), increment: reached - shown });
        shown = reached;
      });
      const button = cancelled.onCancellationRequested(() => {
        void client.sendNotification(WorkDoneProgressCancelNotification.type, { token });
      });
      await this.began(1);
      try {
        return await this.execute<Outcome>(command, args, token);
      } finally {
        updates.dispose();
        button.dispose();
        await this.began(-1);
      }
    });
    // A failure the server has shown already.
    if (outcome && outcome.outcome !== 'failed') vscode.window.setStatusBarMessage(`skewlens: ${outcome.message}`, 10_000);
  }

  /** One more run, or one less. */
  private async began(more: number): Promise<void> {
    this.busy += more;
    this.went.fire(this.busy > 0 ? '' : undefined);
    await setContext('skewlens.running', this.busy > 0);
  }

  dispose(): void {
    void this.stop();
    this.changed.dispose();
    this.went.dispose();
    this.log.dispose();
  }
}

export function setContext(name: string, value: boolean): Thenable<unknown> {
  return vscode.commands.executeCommand('setContext', name, value);
}

const began = Date.now();

/**
 * Ticks a step of the walkthrough, by a context that it waits for. VS Code takes up to
 * five seconds to register the steps, and passes over those whose context is there by then.
 */
export function tick(context: string): void {
  setTimeout(() => void setContext(context, true), Math.max(0, began + 6000 - Date.now()));
}

interface Choice {
  label: string;
  description?: string;
}

/** Which of several the person means; the server asks where it cannot know. */
async function choose({ title, items }: { title: string; items: Choice[] }): Promise<{ index: number } | null> {
  const rows = items.map(({ label, description }, index) => ({ label, detail: description, index }));
  const chosen = await vscode.window.showQuickPick(rows, { title, placeHolder: 'It is kept until you clear the results', ignoreFocusOut: true });
  return chosen ? { index: chosen.index } : null;
}

/** A line of text; Enter alone is the empty one. */
async function ask({ title, hint }: { title: string; hint?: string }): Promise<{ value: string } | null> {
  const value = await vscode.window.showInputBox({ title, prompt: hint, ignoreFocusOut: true });
  return value === undefined ? null : { value };
}

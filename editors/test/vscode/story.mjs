// The whole story in VS Code, as a person would do it: clicks and keys in a
// browser, and what is then on the screen. Prints PASS and FAIL lines.
import { createRequire } from 'node:module';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { SERVER, WORKSPACE, PROGRAM, PICTURES, DRIVER, PROJECTS, PROJECT_NAMES } = process.env;
const { chromium } = createRequire(join(DRIVER, 'package.json'))('playwright-core');
mkdirSync(PICTURES, { recursive: true });

const context = await chromium.launchPersistentContext(mkdtempSync(join(tmpdir(), 'skewlens-chromium-')), {
  executablePath: '/usr/bin/chromium',
  headless: true,
  viewport: { width: 1340, height: 660 },
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
});
const page = context.pages()[0] ?? await context.newPage();

let picture = 0;
const shot = name => page.screenshot({ path: join(PICTURES, `${++picture}-${name}.png`) });
const pause = ms => page.waitForTimeout(ms);

/** Repeats f until it returns something true. */
async function until(f, seconds) {
  for (const end = Date.now() + seconds * 1000; ;) {
    const value = await f();
    if (value || Date.now() > end) return value;
    await pause(50);
  }
}

let failed = 0;
function check(name, ok, detail) {
  console.log(ok ? `PASS ${name}` : `FAIL ${name}: ${detail ?? ''}`);
  if (!ok) failed++;
}

/** Checks what comes true sooner or later; without it there is no going on. */
async function eventually(name, f, seconds = 30) {
  const value = await until(f, seconds);
  check(name, value, 'did not happen in time');
  if (!value) {
    await command('Notifications: Show Notifications').catch(() => {});
    throw new Error('given up');
  }
  return value;
}

const lens = text => page.locator('.codelens-decoration a', { hasText: text }).first();
const shows = (locator) => locator.isVisible().catch(() => false);
/** Clicks a lens. One that VS Code is about to replace would not do anything. */
async function click(text) {
  await pause(1000);
  await lens(text).click();
}
const squiggles = () => page.locator('.squiggly-warning').count();
const toast = text => page.locator('.notification-toast', { hasText: text }).first();
const text = async selector => (await page.locator(selector).allInnerTexts()).join('\n').replace(/\u00a0/g, ' ');

function lineOf(mark) {
  return readFileSync(join(WORKSPACE, 'owner.c'), 'utf8').split('\n').findIndex(l => l.includes(mark)) + 1;
}

/** Whether the profiled program runs. */
function alive() {
  return readdirSync('/proc').some(pid => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/exe`) === join(WORKSPACE, 'owner');
    } catch {
      return false;
    }
  });
}

async function command(name) {
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget input').fill('>' + name);
  await page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first().waitFor({ timeout: 10000 });
  await page.keyboard.press('Enter');
}

/** Whether the palette has a command. */
async function offered(name) {
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget input').fill('>' + name);
  await pause(500);
  const rows = await page.locator('.quick-input-list .monaco-list-row', { hasText: name }).count();
  await page.keyboard.press('Escape');
  return rows > 0;
}

async function goTo(line) {
  await page.keyboard.press('Control+g');
  await page.locator('.quick-input-widget input').fill(':' + line);
  await page.keyboard.press('Enter');
  await until(() => atLine(line), 5);
}

const atLine = async line => (await text('.statusbar')).includes(`Ln ${line},`);

/** Whether the squiggle stands in the line with this text. */
async function squiggleOn(mark) {
  const squiggle = await page.locator('.squiggly-warning').first().boundingBox().catch(() => null);
  const line = await page.locator('.view-line', { hasText: mark }).first().boundingBox().catch(() => null);
  return squiggle && line && squiggle.y >= line.y - 2 && squiggle.y + squiggle.height <= line.y + line.height + 2;
}

/** The colour of the report's page, and the least contrast that any of its texts has with what is behind it. */
async function colours() {
  for (const frame of page.frames()) {
    if (!frame.url().includes('fake.html')) continue;
    return frame.evaluate(() => {
      const numbers = colour => (colour.match(/[\d.]+/g) ?? []).map(Number);
      const light = colour => numbers(colour).slice(0, 3).map(x => x / 255).map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
        .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
      const behind = element => {
        for (; element; element = element.parentElement) {
          const colour = getComputedStyle(element).backgroundColor;
          if (numbers(colour)[3] !== 0) return colour;
        }
        return 'rgb(255, 255, 255)';
      };
      const contrast = element => {
        const [a, b] = [light(getComputedStyle(element).color), light(behind(element))];
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      };
      const texts = [...document.querySelectorAll('h1, h2, h3, p, td, th, figcaption, summary, pre span, .bad, .soft')];
      return { paper: getComputedStyle(document.body).backgroundColor, worst: Math.min(...texts.map(contrast)) };
    }).catch(() => undefined);
  }
}

async function story() {
  const file = `vscode-remote://${new URL(SERVER).host}${WORKSPACE}/owner.c`;
  const payload = encodeURIComponent(JSON.stringify([['openFile', file]]));
  await page.goto(`${SERVER}/?folder=${WORKSPACE}&payload=${payload}`, { waitUntil: 'domcontentloaded' });
  await page.locator('.monaco-editor .view-line').first().waitFor({ timeout: 60000 });

  // First use.
  await eventually('the first time, it offers to show how', () => shows(toast('finds the line that makes')), 60);
  await toast('finds the line that makes').locator('.monaco-button', { hasText: 'Show Me How' }).click();
  await eventually('the walkthrough opens', async () => (await text('.gettingStartedContainer')).includes('What is built and run'));
  await eventually('and ticks that the program is there', async () => await page.locator('.gettingStartedContainer .codicon-getting-started-step-checked').count() > 0);
  await shot('walkthrough');
  await page.locator('.tab', { hasText: 'owner.c' }).click();
  await page.locator('.tab', { hasText: 'Welcome' }).click({ button: 'middle' });
  await page.locator('.monaco-editor .view-lines').first().click();

  // Nothing runs before it is asked for.
  const section = lineOf('/* SECTION */'), planted = lineOf('/* PLANTED */');
  await goTo(section);
  await eventually('a lens stands over the section', () => shows(lens('Profile parallel section')));
  check('nothing was built by opening the file', !readdirSync(WORKSPACE).includes('owner'));
  await shot('lens');

  // Run, and cancel while the program runs.
  await click('Profile parallel section');
  await eventually('a notification shows progress', () => shows(toast('skewlens')), 10);
  await eventually('the program runs', alive, 60);
  await eventually('so does the status bar', async () => /skewlens .*(owner|%)/.test(await text('.statusbar')), 10);
  await shot('progress');
  await toast('skewlens').locator('.monaco-button', { hasText: 'Cancel' }).click();
  const asked = Date.now();
  await eventually('Cancel ends the program', () => !alive(), 5);
  check('soon', Date.now() - asked < 1500, `${Date.now() - asked} ms`);
  await eventually('the notification goes', async () => !(await shows(toast('skewlens'))), 10);
  check('a cancelled run has no results', await squiggles() === 0);
  check('so the palette offers no report', !(await offered('skewlens: Open Report')));

  // Run again.
  await click('Profile');
  await eventually('a squiggle appears', async () => await squiggles() > 0, 60);
  check('under the guilty line', await until(() => squiggleOn('PLANTED'), 5));
  await eventually('an inlay hint stands on the line', async () => /PLANTED \*\/.*◀ #1/.test(await text('.view-line')));
  await eventually('the lens has the imbalance', async () => /\d\s?%/.test(await text('.codelens-decoration')));
  await eventually('the notification goes', async () => !(await shows(toast('skewlens'))), 20);

  await eventually('so has the status bar', async () => /\d+ % imbalance/.test(await text('.statusbar')), 10);
  check('the palette offers the report', await offered('skewlens: Open Report'));
  await page.keyboard.press('Control+p');
  await page.locator('.quick-input-widget input').fill('example.h');
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'example.h' }).first().waitFor({ timeout: 10000 });
  await page.keyboard.press('Enter');
  await goTo(35); // where all of the work is
  const bars = () => page.locator('.glyph-margin-widgets .cgmr').count();
  check('no bar says where the work is until it is asked for', await bars() === 0);
  await command('skewlens: Show or Hide Where the Work Is');
  await eventually('then bars do', async () => await bars() > 0, 10);
  await shot('heat');
  await command('skewlens: Show or Hide Where the Work Is');
  await eventually('and go again', async () => await bars() === 0, 10);
  await page.locator('.tab', { hasText: 'example.h' }).click({ button: 'middle' });
  await page.locator('.monaco-editor .view-lines').first().click();
  await goTo(planted);

  // The hover.
  await pause(300);
  await page.locator('.view-line', { hasText: 'PLANTED' }).locator('span span', { hasText: 'owner' }).first().hover();
  const hover = await eventually('the hover has a bar for each thread', async () => {
    const shown = await text('.monaco-hover .hover-contents');
    return shown.includes('█') && shown;
  }, 15);
  check('and the message', hover.includes('#1'), hover);
  await pause(300);
  await shot('hover');
  await page.keyboard.press('Escape');

  // The list, and the next cause.
  await page.locator('.activitybar .action-item a[aria-label^="skewlens"]').first().click();
  const row = page.locator('.pane-body .monaco-list-row', { hasText: '#1' }).first();
  await eventually('the list has the cause', () => shows(row));
  await shot('results');
  await goTo(1);
  await row.click();
  await eventually('a click on it goes there', () => atLine(planted), 10);
  await page.locator('.monaco-editor .view-lines').first().click();
  await goTo(1);
  await command('skewlens: Go to Next Cause');
  await eventually('Go to Next Cause goes there', () => atLine(planted), 10);

  // What that means, as a page, without the web.
  await command('skewlens: Explain the Cause on This Line');
  const explained = page.locator('.tab', { hasText: 'branch.md' }).first();
  await eventually('the kind of the cause is explained on a page', () => shows(explained), 15);
  await shot('explained');
  await explained.click({ button: 'middle' });
  await page.locator('.monaco-editor .view-lines').first().click();

  // A finding that is not wanted: an edit of the workspace's file, which can be taken back.
  await goTo(planted);
  const suppress = page.locator('.action-widget .monaco-list-row', { hasText: 'Do not show this finding again' }).first();
  await eventually('a quick fix suppresses the finding', async () => {
    if (await shows(suppress)) return true;
    await page.keyboard.press('Control+Period'); // lost while another part of the window has the focus
    return until(() => shows(suppress), 2);
  });
  await suppress.click();
  await eventually('the squiggle goes', async () => await squiggles() === 0, 10);
  await eventually('and the lens says why', async () => (await text('.codelens-decoration')).includes('all causes suppressed'));
  check('nothing is saved yet', !readFileSync(join(WORKSPACE, '.skewlens.toml'), 'utf8').includes('[[suppress]]'));
  await page.locator('.tab', { hasText: '.skewlens.toml' }).click();
  await eventually('the file shows what was added', async () => (await text('.view-lines')).includes('[[suppress]]'), 10);
  await command('File: Revert File');
  await page.locator('.tab', { hasText: '.skewlens.toml' }).click({ button: 'middle' });
  await page.locator('.monaco-editor .view-lines').first().click();
  await goTo(planted); // a click may scroll
  await eventually('taken back: the squiggle is there again', () => squiggleOn('PLANTED'), 10);

  // Editing above moves everything along.
  await goTo(1);
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText('// one\n// two\n');
  await goTo(planted + 2);
  await eventually('edited above: the squiggle is still right', () => squiggleOn('PLANTED'), 10);
  await goTo(1);
  await command('skewlens: Go to Next Cause');
  await eventually('edited above: so is the jump', () => atLine(planted + 2), 10);
  await goTo(1);
  await row.click();
  await eventually('edited above: so is the list', () => atLine(planted + 2), 10);
  await page.locator('.monaco-editor .view-lines').first().click();
  await goTo(section + 2);
  await click('Profile again');
  await eventually('unsaved files are refused by name', () => shows(toast('owner.c')), 10);
  await shot('edited');
  await command('Notifications: Clear All Notifications');

  // The report.
  await click('imbalance');
  const report = await eventually('the report opens in a panel', async () => {
    for (const frame of page.frames()) {
      const body = await frame.locator('body').innerText({ timeout: 500 }).catch(() => '');
      if (frame.url().includes('fake.html') && body.includes('owner')) return body;
    }
  }, 30);
  check('and has the imbalance', /\d\s?%/.test(report), report.slice(0, 200));
  await shot('report');
  const before = await colours();
  check('it is readable', before && before.worst >= 4.5, JSON.stringify(before));
  await command('Preferences: Toggle between Light/Dark Themes');
  const after = await until(async () => {
    const now = await colours();
    return now && now.paper !== before.paper && now;
  }, 10);
  check('it follows the theme of the editor', after, JSON.stringify(before));
  check('and is readable there too', after && after.worst >= 4.5, JSON.stringify(after));
  await shot('report-other-theme');
  await command('Preferences: Toggle between Light/Dark Themes');
  for (const frame of page.frames()) {
    if (frame.url().includes('fake.html')) await frame.locator('article.cause h3 a').first().click({ timeout: 5000 }).catch(() => {});
  }
  await eventually('a click on its cause goes to the line', () => atLine(planted + 2), 10);
  await page.locator('.tab', { hasText: 'skewlens report' }).click({ button: 'middle' });

  // Fix it, and look again.
  await page.locator('.monaco-editor .view-lines').first().click();
  await goTo(1);
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.insertText('#define FIXED\n');
  await page.keyboard.press('Control+s');
  await eventually('the fixed file is saved', () => lineOf('#define FIXED') === 1 && lineOf('// two') === 0, 10);
  await goTo(section + 1);
  await pause(300);
  await click('Profile again');
  await eventually('fixed and run again: balanced', async () => /[Bb]alanced/.test(await text('.codelens-decoration')), 60);
  check('and no squiggle', await until(async () => await squiggles() === 0, 5));
  await eventually('and so says the list', async () => !(await shows(row)), 10);
  await eventually('and the status bar: what is too short to matter does not count', async () => /\b0 % imbalance/.test(await text('.statusbar')), 10);
  await shot('balanced');

  // Where its speedup goes, of less work.
  const config = join(WORKSPACE, '.skewlens.toml');
  writeFileSync(config, readFileSync(config, 'utf8').replace('600', '60'));
  await command('skewlens: Measure Speedup');
  await eventually('a lens has the speedup', async () => /speedup [\d.]+ (\([^)]*\) )?of 2/.test(await text('.codelens-decoration')), 90);
  check('beside the section', /[Bb]alanced/.test(await text('.codelens-decoration')));
  await shot('speedup');

  // Without debug information a cause stands on no line: the list says why.
  writeFileSync(config, readFileSync(config, 'utf8').replace(' -g ', ' '));
  const source = join(WORKSPACE, 'owner.c');
  writeFileSync(source, readFileSync(source, 'utf8').replace('#define FIXED\n', ''));
  await goTo(1);
  const fixed = async () => (await text('.view-line')).includes('#define FIXED');
  await eventually('the editor has what another program wrote', async () => !(await fixed()), 20);
  await command('skewlens: Profile Program');
  await eventually('without -g the list says why the cause has no line', async () => /#1[^]*of which no source line is known/.test(await text('.pane-body .monaco-list-row')), 60);
  await shot('no-debug-information');
  writeFileSync(config, readFileSync(config, 'utf8').replace('-pthread', '-g -pthread'));
  writeFileSync(source, '#define FIXED\n' + readFileSync(source, 'utf8'));
  await eventually('the editor has that, too', fixed, 20);
  await goTo(section + 1); // lenses that are out of sight are on no screen
  await command('skewlens: Profile Program');
  await eventually('built with it again: balanced', async () => /[Bb]alanced/.test(await text('.codelens-decoration')) && !(await shows(row)), 60);

  // A setting that names no program is said at once, with what helps.
  mkdirSync(join(WORKSPACE, '.vscode'));
  const names = path => writeFileSync(join(WORKSPACE, '.vscode/settings.json'), JSON.stringify({ 'skewlens.path': path }));
  names('/nowhere/skewlens');
  const missing = toast('/nowhere/skewlens, which is not a program');
  await eventually('without its program it says so', () => shows(missing), 20);
  const buttons = await missing.locator('.monaco-button').allInnerTexts();
  check('and offers what helps', buttons.includes('Install') && buttons.includes('Say Where It Is'), buttons.join());
  await eventually('there is no lens', async () => !(await shows(lens('alanced'))), 10);
  await shot('missing');
  names(PROGRAM);
  await eventually('once it is there, so are its results', () => shows(lens('alanced')), 30);
}

// The first minute with a project that nobody has configured: one click, and the
// guilty line is in the list, though it stands in another file than the open one.
async function first(project) {
  const folder = PROJECTS + project;
  const [file, guilty] = project === 'cargo' ? ['src/main.rs', 'src/work.rs'] : ['src/main.c', 'src/work.c'];
  const open = `vscode-remote://${new URL(SERVER).host}${folder}/${file}`;
  const payload = encodeURIComponent(JSON.stringify([['openFile', open]]));
  await page.goto(`${SERVER}/?folder=${folder}&payload=${payload}`, { waitUntil: 'domcontentloaded' });
  await page.locator('.monaco-editor .view-line').first().waitFor({ timeout: 60000 });
  await eventually(`${project}: a lens stands over the section`, () => shows(lens('Profile parallel section')), 60);
  await click('Profile parallel section');
  await eventually(`${project}: one click builds, runs and finds the imbalance`, () => shows(lens('imbalance 53')), 120);
  check(`${project}: no file was written for it`, !readdirSync(folder).includes('.skewlens.toml'));
  await shot(`first-${project}`);
  const keep = toast('Keep that in').locator('.monaco-button', { hasText: 'Write .skewlens.toml' });
  await eventually(`${project}: it offers to keep that`, () => shows(keep), 20);
  await keep.click();
  await eventually(`${project}: and does, at a click`, () => readdirSync(folder).includes('.skewlens.toml'), 10);
  await page.locator('.activitybar .action-item a[aria-label^="skewlens"]').first().click();
  const row = page.locator('.pane-body .monaco-list-row', { hasText: '#1' }).first();
  await eventually(`${project}: the list has the cause`, () => shows(row));
  await row.click();
  await eventually(`${project}: a click on it opens the other file`, () => shows(page.locator('.tab.active', { hasText: guilty.split('/')[1] })), 10);
  await eventually(`${project}: a squiggle stands there`, async () => await squiggles() > 0, 10);
}

try {
  await story();
  for (const project of (PROJECT_NAMES ?? '').split(' ').filter(Boolean)) await first(project);
} catch (error) {
  failed++;
  console.log(`FAIL ${String(error).split('\n').slice(0, 4).join(' ')}`);
  await shot('failed').catch(() => {});
}
await context.close();
process.exit(failed ? 1 : 0);

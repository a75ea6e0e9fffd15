// Draws what a terminal showed, as `tmux capture-pane -p -e` gives it, into a
// PNG: node picture.mjs SCREEN.ansi OUT.png
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { chromium } = createRequire(join(process.env.DRIVER, 'package.json'))('playwright-core');
const [, , from, to] = process.argv;
const basic = ['#07080d', '#ffc0b9', '#b3f6c0', '#fce094', '#a6dbff', '#ffcaff', '#8cf8f7', '#eef1f8'];

/** Turns the numbers after ESC [ into a style; only what Neovim uses. */
function apply(style, numbers) {
  for (let n = numbers.map(Number), i = 0; i < n.length; i++) {
    if (n[i] === 0) style = {};
    else if (n[i] === 1) style = { ...style, bold: true };
    else if (n[i] === 7) style = { ...style, reverse: true };
    else if (n[i] === 27) style = { ...style, reverse: false };
    else if ((n[i] === 38 || n[i] === 48 || n[i] === 58) && n[i + 1] === 2) {
      const colour = `rgb(${n[i + 2]},${n[i + 3]},${n[i + 4]})`;
      if (n[i] === 38) style = { ...style, fg: colour };
      if (n[i] === 48) style = { ...style, bg: colour };
      i += 4;
    } else if (n[i] >= 30 && n[i] < 38) style = { ...style, fg: basic[n[i] - 30] };
    else if (n[i] >= 40 && n[i] < 48) style = { ...style, bg: basic[n[i] - 40] };
    else if (n[i] === 39) style = { ...style, fg: undefined };
    else if (n[i] === 49) style = { ...style, bg: undefined };
    else if (n[i] === 4) style = { ...style, under: true };
    else if (n[i] === 24) style = { ...style, under: false };
  }
  return style;
}

function span(text, { fg = '#e0e2ea', bg = '#14161b', bold, reverse, under }) {
  if (reverse) [fg, bg] = [bg, fg];
  const escaped = text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  return `<span style="color:${fg};background:${bg};${bold ? 'font-weight:bold;' : ''}${under ? 'text-decoration:underline' : ''}">${escaped}</span>`;
}

let style = {}, html = '';
for (const part of readFileSync(from, 'utf8').split(/(\x1b\[[0-9;:]*m)/)) {
  const code = /^\x1b\[([0-9;:]*)m$/.exec(part);
  if (!code) html += part.replace(/\x1b./g, '') && span(part.replace(/\x1b./g, ''), style);
  // 4:3 is an underline that waves.
  else style = apply(style, code[1].replace(/4:\d/g, '4').replace(/:/g, ';').split(';'));
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
await page.setContent(`<body style="margin:0;background:#14161b"><pre style="display:inline-block;margin:0;padding:8px;
  font:13px/17px 'DejaVu Sans Mono';background:#14161b">${html}</pre>`);
await page.locator('pre').screenshot({ path: to });
await browser.close();

/** The grid of 100,000 cells, drawn by the code of its page in a real Chromium. */
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';
import { withPage } from '../web-browser.ts';
import { FLEET } from './components-fleet.ts';

const ROUNDS = 50;
const CHANGED = 1_000;
const BAR = { full: 16, changed: 4 };
const FOLDER = join(import.meta.dirname, '..', '..', 'web', 'src', 'fleet');

/** Run in the page, behind the code of the grid. Until the pixels are read again a browser may put off what it was told. */
const DRAW = `
  const canvas = document.createElement('canvas');
  const layout = layoutOf([{ label: 'all', start: 0, count: ${FLEET} }], ${FLEET}, 1200);
  canvas.width = layout.width;
  canvas.height = layout.height;
  document.body.append(canvas);
  const context = canvas.getContext('2d');
  const colours = { configured: 1, pending: 2, failed: 3, unconfigured: 4, disabled: 5, held: 6 };
  const letters = 'cpfud';
  const image = new ImageData(layout.width, layout.height);
  const pixels = new Uint32Array(image.data.buffer);
  let drawn = '';
  const draw = (status) => {
    const began = performance.now();
    const rows = drawCells(pixels, layout, status, drawn, colours);
    if (rows !== null) context.putImageData(image, 0, 0, 0, rows.from, layout.width, rows.to - rows.from);
    const took = performance.now() - began;
    drawn = status;
    return took;
  };
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const full = [];
  const changed = [];
  for (let round = 0; round < ${ROUNDS}; round += 1) {
    const cells = Array.from({ length: ${FLEET} }, (_, cell) => letters[(cell + round) % letters.length]);
    full.push(draw(cells.join('')));
    await frame();
    for (let count = 0; count < ${CHANGED}; count += 1) cells[(count * 97 + round) % ${FLEET}] = 'P';
    changed.push(draw(cells.join('')));
    await frame();
  }
  return { full, changed };
`;

/** Returns the code of the grid as a page runs it. */
async function gridCode(): Promise<string> {
  const texts = await Promise.all(
    ['grid-layout.ts', 'grid-pixels.ts'].map((file) => readFile(join(FOLDER, file), 'utf8')),
  );
  return texts
    .map((text) => stripTypeScriptTypes(text.replace(/^import [^;]*;$/gm, '')).replace(/^export /gm, ''))
    .join('\n');
}

/** All cells, and a part of them that changed. */
export async function measureWebDraw(): Promise<Measurement> {
  const code = await gridCode();
  return withPage('http://127.0.0.1', async (page) => {
    const { full, changed } = await page.evaluate<{ full: number[]; changed: number[] }>(
      `(async () => { ${code}\n${DRAW} })()`,
    );
    const [all, some] = [quantile(full, 0.95), quantile(changed, 0.95)];
    return {
      what: `grid of ${FLEET} cells drawn; ${CHANGED} of them changed`,
      bar: `p95 < ${BAR.full} ms; < ${BAR.changed} ms`,
      measured: `p95 ${round(all, 1)} ms; ${round(some, 1)} ms`,
      met: all < BAR.full && some < BAR.changed,
      samples: { full_ms: full.map((ms) => round(ms, 1)), changed_ms: changed.map((ms) => round(ms, 1)) },
    };
  });
}

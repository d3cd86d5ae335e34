/**
 * `npm run bench -- --against COMMIT [NAME ...]`: measures rows in this checkout and in another commit, in turn, and says which got
 * worse. The other commit is unpacked into a folder of its own and installs what it needs there; its own benches measure it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figures, figuresOf, judge, type Verdict } from './comparison.ts';
import type { Measurement } from './measurement.ts';
import { round } from './measurement.ts';

const ROUNDS = 5;

export interface Compared {
  row: string;
  verdicts: Verdict[];
  /** Of this checkout, in the last round. */
  measured: string;
}

/**
 * @param root this checkout
 * @param commit any name that git knows
 * @param rows names of measurements; those that the other commit lacks are told and left out
 * @throws {Error} when there is no such commit, or a measurement fails
 */
export async function compareAgainst(root: string, commit: string, rows: string[]): Promise<Compared[]> {
  const id = execFileSync('git', ['-C', root, 'rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`], {
    encoding: 'utf8',
  }).trim();
  const work = mkdtempSync(join(tmpdir(), 'muster-against-'));
  try {
    const base = unpack(root, id, work);
    const there = await namesOf(base);
    const missing = rows.filter((row) => !there.includes(row));
    if (missing.length > 0) process.stderr.write(`commit ${id.slice(0, 12)} does not measure ${missing.join(', ')}\n`);
    const compared: Compared[] = [];
    for (const row of rows.filter((name) => there.includes(name))) compared.push(await compareRow(root, base, row));
    return compared;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Which of the two begins changes with each round, so that what a machine does meanwhile falls on both. */
async function compareRow(root: string, base: string, row: string): Promise<Compared> {
  const figures: { base: Figures[]; here: Figures[] } = { base: [], here: [] };
  let measured = '';
  for (let index = 0; index < ROUNDS; index += 1) {
    process.stderr.write(`round ${index + 1} of ${ROUNDS} of ${row}\n`);
    const sides = [
      { side: 'base', checkout: base },
      { side: 'here', checkout: root },
    ] as const;
    for (const { side, checkout } of index % 2 === 0 ? sides : sides.toReversed()) {
      const [found] = await measureIn(checkout, row);
      if (found === undefined) continue;
      figures[side].push(figuresOf(found.samples));
      if (side === 'here') measured = found.measured;
    }
  }
  return { row, verdicts: judge(figures.base, figures.here), measured };
}

/** Runs one measurement of a checkout by its own command. */
async function measureIn(checkout: string, row: string): Promise<Measurement[]> {
  const said = await bench(checkout, [row]);
  if (said.status !== 0) throw new Error(`${row} cannot be measured in ${checkout}:\n${said.text.slice(-2000)}`);
  // What needs a cluster is not measured where none can be had.
  const path = /^written to (.*)$/m.exec(said.text)?.[1];
  if (path === undefined) return [];
  const { results }: { results: Measurement[] } = JSON.parse(readFileSync(path, 'utf8'));
  rmSync(path);
  return results;
}

/** Names of the measurements of a checkout, which it lists when asked for one that it cannot have. */
async function namesOf(checkout: string): Promise<string[]> {
  const { text } = await bench(checkout, ['no-such-measurement']);
  const names = /^Error: no such measurement: .*; there are (.*)$/m.exec(text)?.[1];
  if (names === undefined) throw new Error(`${checkout} lists no measurements:\n${text.slice(-2000)}`);
  return names.split(', ');
}

function bench(checkout: string, args: string[]): Promise<{ status: number; text: string }> {
  const entry = join(checkout, 'bootstrap', 'run.mjs');
  const child = spawn(process.execPath, [entry, 'bench', ...args], {
    cwd: checkout,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ status: code ?? 1, text }));
  });
}

function unpack(root: string, commit: string, work: string): string {
  const folder = join(work, 'base');
  mkdirSync(folder);
  const archive = join(work, 'sources.tar');
  execFileSync('git', ['-C', root, '-c', 'tar.umask=0022', 'archive', `--output=${archive}`, commit]);
  execFileSync('tar', ['-x', '-f', archive, '-C', folder]);
  return folder;
}

/** Prints the comparison. @returns whether any row is worse */
export function printCompared(compared: readonly Compared[]): boolean {
  for (const { row, verdicts, measured } of compared) {
    process.stdout.write(`${row}: ${measured}\n`);
    for (const { figure, ratio, base, here, worse } of verdicts) {
      const [from, to] = [base, here].map((range) => range.map((value) => round(value, 4)).join(' to '));
      process.stdout.write(`  ${figure}: ${round(ratio, 3)} x (${from}; here ${to})${worse ? ', WORSE' : ''}\n`);
    }
  }
  return compared.some(({ verdicts }) => verdicts.some(({ worse }) => worse));
}

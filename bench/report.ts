/** What was measured, for people and for later comparisons. */
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Measurement } from './measurement.ts';

/** Prints measurements as a table. */
export function printMeasured(results: Measurement[]): void {
  const rows = results.map(({ what, bar, measured, met }) => [what, bar, measured, met ? 'met' : 'MISSED']);
  const table = [['what', 'bar', 'measured', ''], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  for (const row of table) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}

/** Writes measurements with their samples to a new file of `bench/results/`. */
export async function saveMeasured(root: string, results: Measurement[]): Promise<void> {
  const folder = join(root, 'bench', 'results');
  await mkdir(folder, { recursive: true });
  const machine = { processor: cpus()[0]?.model, cores: cpus().length, memory_gib: Math.round(totalmem() / 2 ** 30) };
  const at = new Date().toISOString();
  const path = join(folder, `${at.slice(0, 19).replaceAll(':', '-')}.json`);
  await writeFile(path, `${JSON.stringify({ at, node: process.version, machine, results }, null, 2)}\n`);
  process.stderr.write(`written to ${path}\n`);
}

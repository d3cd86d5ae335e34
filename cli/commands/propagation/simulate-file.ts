/**
 * A plan on paper, from a file. A simulation reads nothing but its input, so the command line works it out itself, with the very function
 * that the API has: no server is asked.
 */
import { isMusterError } from '../../../domain/errors.ts';
import { type Simulation, simulation, unusedNames } from '../../../domain/propagation/simulate.ts';
import type { SimulateInput } from '../../../domain/propagation/simulate-schema.ts';
import {
  explainSimulated,
  explanationText,
  simulationGraph,
  simulationText,
} from '../../../domain/propagation/simulation-text.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { readDocuments } from '../../input/documents.ts';
import { cell, type View } from '../../output/columns.ts';
import { type Format, isValueFormat } from '../../output/formats.ts';
import { someOf } from '../../output/names.ts';
import { renderList, renderValue, writeData } from '../../output/render.ts';

export { explanationText };

export interface SimulateOptions {
  output: Format;
  graph?: 'tree' | 'dot';
  around?: string;
  depth?: number;
  explain?: string;
}

interface Row {
  id: string;
  origin: string;
  status: string;
  outcome: string | undefined;
  attempts: number | undefined;
}

const view: View<Row> = {
  noun: 'nodes',
  name: ({ id }) => id,
  columns: [
    { title: 'NODE', value: ({ id }) => id },
    { title: 'ORIGIN', value: ({ origin }) => origin },
    { title: 'STATUS', value: ({ status }) => status },
    { title: 'OUTCOME', value: ({ outcome }) => cell(outcome) },
    { title: 'ATTEMPTS', value: ({ attempts }) => cell(attempts) },
  ],
};

/** Simulates the plan of a file and writes what was asked for. Throws a `CliFailure` with exit status 2 for a plan that is refused. */
export async function simulateFile(context: CliContext, file: string, options: SimulateOptions): Promise<void> {
  const source = file === '-' ? 'stdin' : file;
  const [document, ...others] = await readDocuments(context, file, 'simulations');
  if (others.length > 0) throw usage(`${source} holds ${others.length + 1} documents: a plan is one`);
  await refusing(async () => {
    const simulated = simulation(document);
    const unused = unusedNames(document as unknown as SimulateInput, simulated.answer);
    if (unused.length > 0) say(context, `warning: no node of the plan is named ${someOf(unused)}`);
    writeData(context, await textOf(simulated, options));
  });
}

async function textOf(simulated: Simulation, options: SimulateOptions): Promise<string> {
  const { output, around, depth, explain } = options;
  if (explain !== undefined) {
    const explanation = explainSimulated(simulated, explain);
    return isValueFormat(output) ? renderValue(explanation, output) : explanationText(explanation);
  }
  const graph = options.graph ?? (around === undefined ? undefined : 'tree');
  if (depth !== undefined && around === undefined) throw usage('--depth needs --around NODE');
  if (graph !== undefined) {
    return simulationGraph(simulated, graph, around === undefined ? undefined : { around, depth: depth ?? 1 });
  }
  if (isValueFormat(output)) return renderValue(simulated.answer, output);
  if (output === 'table') return simulationText(simulated);
  const { nodes, run } = simulated.answer;
  const rows = nodes.map(({ id, origin }) => ({
    ...{ id, origin, status: run.statuses[id] ?? '' },
    ...{ outcome: run.outcomes[id], attempts: run.attempts[id] },
  }));
  return renderList(view, rows, output);
}

/** What the rules refuse, as a failure of the command: whatever the code, the file has to be changed. */
async function refusing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isMusterError(error)) throw error;
    const fix = error.code === 'unknown_resource' ? 'name all resources in `resources`, or leave it out' : undefined;
    throw new CliFailure(error.code, error.detail, EXIT.usage, fix, error.errors);
  }
}

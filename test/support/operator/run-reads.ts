/** What tests ask of the runs of an operator's resources. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CustomResource } from '../../../domain/operator/custom-resource.ts';
import { eventually } from '../eventually.ts';
import { type Call, conditionsOf, type OperatorBench, WIDGETS } from './operator-process.ts';

export interface RunReads {
  /** What the scripted runner has begun for a resource. */
  begins(name: string): Call[];
  /** What it has ended. */
  ends(name: string): Call[];
  /** Waits until so many runs of a resource have begun. */
  hasBegun(name: string, times?: number): Promise<unknown>;
  /** Waits until so many runs of a resource have ended by themselves. */
  hasEnded(name: string, times?: number): Promise<unknown>;
  /** Lets runs go on whose spec names this gate. */
  openGate(gate: string): void;
  /** Of each record of a resource its cause and its outcome, oldest first: `created ok`. */
  outcomes(name: string): Promise<string[]>;
  /** Waits until these are the outcomes. */
  came(name: string, to: string[]): Promise<unknown>;
  /** Id of a resource. */
  idOf(name: string): Promise<string>;
  /** Waits until no reconcile is open and no widget says that it runs. */
  isQuiet(): Promise<unknown>;
}

/** `said`: what is told where a wait is over; `withinMs`: of each wait. */
export function readRuns(bench: OperatorBench, said: () => unknown, withinMs: number): RunReads {
  const callsOf = (word: Call['word'], name: string) =>
    bench.calls().filter((call) => call.word === word && call.name === name);
  const begins = (name: string) => callsOf('begin', name);
  const ends = (name: string) => callsOf('end', name);
  const outcomes = async (name: string) => {
    const rows = await bench.db
      .selectFrom('operator_reconciles as c')
      .innerJoin('operator_resources as r', 'r.id', 'c.resource_id')
      .select(['c.outcome', 'c.cause'])
      .where('r.name', '=', name)
      .orderBy('c.started_at')
      .execute();
    return rows.map(({ outcome, cause }) => `${cause.type} ${outcome}`);
  };
  const openOnes = () =>
    bench.db.selectFrom('operator_resources').select('name').where('reconcile_id', 'is not', null).execute();
  const runningOnes = async () => {
    const { body } = await bench.client.ask<{ items: CustomResource[] }>({ method: 'GET', path: WIDGETS });
    return body.items.filter(isRunning).map(({ metadata }) => metadata.name);
  };
  return {
    begins,
    ends,
    hasBegun: (name, times = 1) =>
      eventually(`run ${times} of ${name} has begun`, () => begins(name).length === times, withinMs, said),
    hasEnded: (name, times = 1) =>
      eventually(`run ${times} of ${name} has ended`, () => ends(name).length === times, withinMs, said),
    openGate: (gate) => writeFileSync(join(bench.home, `gate-${gate}`), ''),
    outcomes,
    came: (name, to) =>
      eventually(
        `${name} came to ${to}`,
        async () => (await outcomes(name)).join() === to.join(),
        withinMs,
        async () => ({ outcomes: await outcomes(name), said: said() }),
      ),
    idOf: async (name) =>
      (await bench.db.selectFrom('operator_resources').select('id').where('name', '=', name).executeTakeFirstOrThrow())
        .id,
    isQuiet: () =>
      eventually(
        'nothing is left in Running',
        async () => (await openOnes()).length === 0 && (await runningOnes()).length === 0,
        withinMs,
        async () => ({ open: await openOnes(), running: await runningOnes(), said: said() }),
      ),
  };
}

/** Whether the status of a resource says that a run is under way. */
export function isRunning(resource: CustomResource): boolean {
  return conditionsOf(resource).some(
    ({ type, status, reason }) => type === 'Running' && status === 'True' && reason === 'Running',
  );
}

import type { Explanation } from '../../domain/explain-schema.ts';
import { explainComponent } from '../../domain/fleet/explain-component.ts';
import { findBatchOf } from '../../store/batches/batch-reads.ts';
import { findConfiguration } from '../../store/configurations/configurations.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { viewOfBatch } from '../batches/batch-view.ts';
import { readBatcher } from '../batches/read-batches.ts';
import { readPlan } from '../batches/read-plan.ts';
import { describeComponent } from '../components/list-components.ts';
import { stopState } from './stop-everything.ts';

interface ExplainDependencies {
  db: Db;
  clock(): Date;
}

/** Why a component stands as it does, and what it waits for. Throws `component_not_found`. */
export async function explainOneComponent(deps: ExplainDependencies, id: string): Promise<Explanation> {
  const { db } = deps;
  const component = await describeComponent(db, id);
  const { desired_config: desired } = component;
  const [stop, batcher, batch, found] = await Promise.all([
    stopState(db),
    readBatcher(deps),
    readBatchOf(deps, id),
    desired === '' ? undefined : findConfiguration(db, desired),
  ]);
  return explainComponent({ component, isThere: found !== undefined, stop, batcher, batch });
}

async function readBatchOf({ db, clock }: ExplainDependencies, id: string) {
  const row = await findBatchOf(db, id);
  return row === null ? null : viewOfBatch(row, await readPlan(db, await readOptions(db), clock()));
}

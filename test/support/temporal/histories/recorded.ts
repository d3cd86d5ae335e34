import type { SessionBench } from '../../stack/session-bench.ts';
import type { TestServer } from '../workflow-environment.ts';

/** Brings a workflow to its end in one way. Returns the id of the workflow, whose history is recorded then. */
export type Recorded = (server: TestServer, bench: SessionBench) => Promise<string>;

/** Ways of a lane's workflows by the names of their histories. */
export type Histories = Readonly<Record<string, Recorded>>;

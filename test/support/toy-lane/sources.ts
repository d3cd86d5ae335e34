/**
 * A lane `toy`, as a new lane is written: a setting, an error, a table, an activity, a workflow with a Schedule, routes and a command.
 * The texts are files of a copy of the checkout, by their paths there.
 */
export const TOY_FILES: Readonly<Record<string, string>> = {
  'domain/toy/errors.ts': `
import { type ErrorTable, kind } from '../error-kind.ts';

export const TOY_ERRORS = {
  toy_not_found: kind(404, 'Toy not found', 3, { advice: '\`./muster toy list\` shows the toys' }),
} satisfies ErrorTable;
`,

  'domain/toy/schema.ts': `
import { z } from 'zod';

export const ToySchema = z.object({ name: z.string(), word: z.string() });
export type Toy = z.infer<typeof ToySchema>;
`,

  'config/toy.ts': `
import { z } from 'zod';

export const toy = {
  settings: {
    MUSTER_TOY_WORD: z.string().default('hello').meta({
      description: 'What a toy says when it is wound.',
      change: 'Set it for toys that say something else.',
    }),
  },
};
`,

  'store/migrations/9000-toys.ts': `
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql\`create table toys (name text primary key, word text not null)\`.execute(db);
}
`,

  'store/toy/tables.ts': `
export interface ToyTables {
  toys: { name: string; word: string };
}
`,

  'store/toy/toys.ts': `
import type { Toy } from '../../domain/toy/schema.ts';
import type { Db } from '../connection/database.ts';

export function listToys(db: Db): Promise<Toy[]> {
  return db.selectFrom('toys').selectAll().orderBy('name').execute();
}

export function findToy(db: Db, name: string): Promise<Toy | undefined> {
  return db.selectFrom('toys').selectAll().where('name', '=', name).executeTakeFirst();
}

export async function writeToy(db: Db, toy: Toy): Promise<void> {
  const { word } = toy;
  await db.insertInto('toys').values(toy).onConflict((known) => known.column('name').doUpdateSet({ word })).execute();
}
`,

  'activities/toy/contract.ts': `
export interface ToyActivities {
  /** Winds the bear. Returns what it says. */
  windToy(): Promise<string>;
}
`,

  'activities/toy/activities.ts': `
import type { Db } from '../../store/connection/database.ts';
import { writeToy } from '../../store/toy/toys.ts';
import { parseInputs } from '../parse-inputs.ts';
import type { ToyActivities } from './contract.ts';

export function createToyActivities({ db, word }: { db: Db; word: string }): ToyActivities {
  return parseInputs<ToyActivities>(
    { windToy: null },
    {
      windToy: async () => {
        await writeToy(db, { name: 'bear', word });
        return word;
      },
    },
  );
}
`,

  'workflows/toy/wind-toy.workflow.ts': `
import { proxyActivities } from '@temporalio/workflow';
import type { ToyActivities } from '../../activities/toy/contract.ts';

const { windToy } = proxyActivities<ToyActivities>({ startToCloseTimeout: '1m' });

export async function windToyWorkflow(): Promise<string> {
  return windToy();
}
`,

  'worker/lanes/toy.ts': `
import { createToyActivities } from '../../activities/toy/activities.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { every } from '../schedules.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

export const toy: WorkerLane = ({ db, env }) => ({
  main: createToyActivities({ db, word: env.MUSTER_TOY_WORD }),
  schedules: [
    every('muster-toy', '10m', {
      workflowType: WORKFLOWS.windToy,
      workflowId: 'wind-toy',
      timeout: '15m',
      summary: 'winds the bear',
    }),
  ],
});
`,

  'api/routes/toy/index.ts': `
import type { ApiLane } from '../../shared/api-shared.ts';
import { toyRoutes } from './toy-routes.ts';

export const toy: ApiLane = (shared) => ({ muster: { toys: (app) => toyRoutes(app, shared) } });
`,

  'api/routes/toy/toy-routes.ts': `
import { z } from 'zod';
import { musterError } from '../../../domain/errors.ts';
import { ToySchema } from '../../../domain/toy/schema.ts';
import { findToy, listToys } from '../../../store/toy/toys.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

export async function toyRoutes(app: ApiServer, { db }: Pick<ApiShared, 'db'>): Promise<void> {
  app.get(
    '/toys',
    {
      schema: { tags: ['toys'], summary: 'List the toys', response: { 200: z.array(ToySchema) } },
      config: { access: 'operator', class: 'list' },
    },
    () => listToys(db),
  );

  app.get(
    '/toys/:toy',
    {
      schema: {
        tags: ['toys'],
        summary: 'Read a toy',
        params: z.object({ toy: z.string() }),
        response: { 200: ToySchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['toy_not_found'] },
    },
    async ({ params }) => {
      const toy = await findToy(db, params.toy);
      if (toy === undefined) throw musterError('toy_not_found', \`Toy \${params.toy} could not be found\`);
      return toy;
    },
  );
}
`,

  'cli/commands/toy/index.ts': `
import type { CliLane } from '../../cli-lane.ts';
import { toyCommands } from './toy-commands.ts';

export const toy: CliLane = { toy: toyCommands };
`,

  'cli/commands/toy/toy-commands.ts': `
import type { Command } from 'commander';
import type { Toy } from '../../../domain/toy/schema.ts';
import type { CliContext } from '../../context.ts';
import { apiOf, type ServerOptions, withServer } from '../../options.ts';

/** \`muster toy ...\` */
export function toyCommands(program: Command, context: CliContext): void {
  const noun = program.command('toy').description('toys, and what they say');

  withServer(noun.command('get'))
    .argument('<name>', 'name of the toy')
    .description('show what a toy says')
    .action(async (name: string, options: ServerOptions) => {
      const toy = await apiOf(context, options).json<Toy>({ method: 'GET', path: \`/api/v1/toys/\${name}\` });
      context.out.write(\`\${toy.word}\\n\`);
    });
}
`,
};

/** One line, and the line of its import where there is one, in each list of lanes: file, import, entry, the text before which it stands. */
export const TOY_LINES: readonly [file: string, imported: string, entry: string, before: string][] = [
  ['api/lanes.ts', "import { toy } from './routes/toy/index.ts';", '  toy,', '};'],
  ['worker/lanes.ts', "import { toy } from './lanes/toy.ts';", '  toy,', '};'],
  ['cli/lanes.ts', "import { toy } from './commands/toy/index.ts';", '  toy,', '};'],
  ['store/tables.ts', "import type { ToyTables } from './toy/tables.ts';", '    ToyTables,', '    ServiceTables {}'],
  ['domain/errors.ts', "import { TOY_ERRORS } from './toy/errors.ts';", '  toy: TOY_ERRORS,', '};'],
  ['config/environment.ts', "import { toy } from './toy.ts';", '  toy,', '};'],
  ['workflows/index.ts', '', "export { windToyWorkflow } from './toy/wind-toy.workflow.ts';", ''],
  ['test/architecture/layers.ts', '', '  toy: BASE,', '};\n\n/** Folders in which a lane'],
];

/** A workflow besides is one line in the list of their names. */
export const WORKFLOW_LINE: (typeof TOY_LINES)[number] = [
  'domain/engine/workflow-names.ts',
  '',
  "  windToy: 'windToyWorkflow',",
  '} as const;',
];

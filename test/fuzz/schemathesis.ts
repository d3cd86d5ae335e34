/**
 * Makes requests of the API documents with schemathesis and sends them to an API with a real Postgres: no answer may be a
 * server error, each must be one that the document names, in its type and schema, and what does not fit is refused.
 *
 *     node test/fuzz/schemathesis.ts FOLDER [document ...]     writes a JUnit report for each document into FOLDER
 */
import { spawn } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { DOCUMENT_PATHS, SURFACES, type Surface } from '../../api/openapi/surfaces.ts';
import { startPostgresServer } from '../support/postgres/postgres-server.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';

/** The same requests each time, unless another seed is asked for. */
const SEED = process.env.MUSTER_TEST_SEED ?? '1';
/** All documents together hang when they take longer, ms: on a busy machine one takes many minutes. */
const PATIENCE = 2_400_000;
/** What a document has at least, ms. */
const LEAST = 60_000;

async function main([folder = '.', ...wanted]: string[]): Promise<number> {
  const program = process.env.MUSTER_TEST_SCHEMATHESIS;
  if (program === undefined) throw new Error('MUSTER_TEST_SCHEMATHESIS is not set: run through "npm test"');
  const server = await startPostgresServer();
  process.env.MUSTER_TEST_POSTGRES_URL = server.url;
  const api = await createTokenApi();
  try {
    const base = await api.app.listen({ host: '127.0.0.1', port: 0 });
    await fill(api);
    process.stderr.write(`seed ${SEED}; another one with MUSTER_TEST_SEED\n`);
    const end = Date.now() + PATIENCE;
    let failed = 0;
    for (const surface of SURFACES.filter((one) => wanted.length === 0 || wanted.includes(one))) {
      const report = resolve(folder, `schemathesis-${surface}.xml`);
      if ((await runSchemathesis(program, base, surface, report, api.tokens.admin, end)) !== 0) failed++;
      const unexpected = api.logged.filter(({ level }) => Number(level) >= 50);
      for (const line of unexpected) process.stderr.write(`${JSON.stringify(line)}\n`);
      api.logged.length = 0;
    }
    return failed;
  } finally {
    await api.close();
    await server.stop();
  }
}

/** Records that requests can meet. */
async function fill(api: TokenApi): Promise<void> {
  const admin = (method: string, url: string, body: unknown) => api.as(api.tokens.admin, method, url, body);
  const layers = [{ clone_url: 'https://git.example.com/site.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
  const answers = [
    await admin('PUT', '/v3/configurations/site', { layers }),
    await admin('PUT', '/v3/components', [{ id: 'x1', desired_config: 'site' }, { id: 'x2' }]),
    await admin('POST', '/v3/sessions', { name: 'nightly', configuration_name: 'site' }),
  ];
  const refused = answers.find(({ status }) => status >= 300);
  if (refused) throw new Error(`the records could not be made: ${JSON.stringify(refused.body)}`);
}

function runSchemathesis(program: string, base: string, surface: Surface, report: string, token: string, end: number) {
  const args = ['--config-file', join(import.meta.dirname, 'schemathesis.toml'), 'run', base + DOCUMENT_PATHS[surface]];
  args.push('--seed', SEED, '--report', 'junit', '--report-junit-path', report);
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PYTHONUTF8: '1', MUSTER_TEST_TOKEN: token };
  return new Promise<number>((resolve, reject) => {
    // It keeps notes in the folder where it runs.
    const timeout = Math.max(LEAST, end - Date.now());
    const options = { cwd: dirname(report), env, timeout, killSignal: 'SIGKILL' } as const;
    const child = spawn(program, args, { ...options, stdio: ['ignore', 2, 2] });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

process.exit((await main(process.argv.slice(2))) === 0 ? 0 : 1);

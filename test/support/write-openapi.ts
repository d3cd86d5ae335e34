/** `npm run openapi`: writes the committed API documents and the list of routes, `roles.txt`, anew. */
import { generatedFiles, writeFiles } from './openapi-files.ts';
import { startPostgresServer } from './postgres/postgres-server.ts';

const server = await startPostgresServer();
process.env.MUSTER_TEST_POSTGRES_URL = server.url;
try {
  const files = await generatedFiles();
  await writeFiles(files);
  process.stdout.write(`written: ${Object.keys(files).join(', ')} in openapi/\n`);
} finally {
  await server.stop();
}

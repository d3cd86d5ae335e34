/** Stands in for the API: answers its health, and says to which servers it was pointed. */
import { createServer } from 'node:http';

const { MUSTER_API_HOST, MUSTER_API_PORT, MUSTER_DATABASE_URL, MUSTER_TEMPORAL_ADDRESS } = process.env;

const server = createServer((request, response) => {
  if (request.url === '/healthz') response.end('ok');
  else response.end(JSON.stringify({ database: MUSTER_DATABASE_URL, temporal: MUSTER_TEMPORAL_ADDRESS }));
});
server.listen(Number(MUSTER_API_PORT), MUSTER_API_HOST ?? '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));

/** Stands in for an API whose database does not come. */
import { createServer } from 'node:http';

createServer((_request, response) => {
  response.statusCode = 503;
  response.end('no database');
}).listen(Number(process.env.MUSTER_API_PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));

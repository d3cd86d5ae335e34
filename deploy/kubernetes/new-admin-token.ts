/** Prints a new token for the Secret of the first administrator; it opens nothing before an API finds it there. */
import { newToken } from '../../control/access/token-secret.ts';

process.stdout.write(`${newToken('api')}\n`);

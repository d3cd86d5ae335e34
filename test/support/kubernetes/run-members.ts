/**
 * Runs member clusters until Ctrl-C:
 *
 *     npm run test:cluster -- members 3
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMembers } from './members.ts';

const MOST = 9;
const count = Number(process.argv[2]);
if (!Number.isInteger(count) || count < 1 || count > MOST) {
  process.stderr.write(`Usage: npm run test:cluster -- members COUNT   (1 to ${MOST})\n`);
  process.exit(2);
}
const over = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
});
process.stdout.write(`Starting ${count} member clusters ...\n`);
const { kubeconfigs, stop } = await startMembers(count, join(tmpdir(), 'muster-members'));
for (const [name, path] of Object.entries(kubeconfigs)) process.stdout.write(`${name}  ${path}\n`);
process.stdout.write('They run until Ctrl-C.\n');
await over;
await stop();

import { createServer } from 'node:net';
import { StackError } from './stack-error.ts';

/** One port that the stack is going to listen on. */
export interface PortNeed {
  host: string;
  port: number;
  /** Whose port it is, as a word for people. */
  owner: string;
  /** Variable that moves it. */
  setting: string;
}

/**
 * Checks that nobody listens on the ports yet.
 * @throws {StackError} that names every busy port with the variable that moves it
 */
export async function checkPorts(needs: PortNeed[]): Promise<void> {
  const problems = await Promise.all(needs.map(portProblem));
  const lines = problems.filter((line) => line !== null);
  const duplicates = needs.filter((need, index) => needs.findIndex((other) => other.port === need.port) !== index);
  lines.push(...duplicates.map((need) => `${need.owner}: port ${need.port} is given twice (set ${need.setting})`));
  if (lines.length === 0) return;
  throw new StackError(
    `The stack cannot listen:\n${lines.map((line) => `  - ${line}`).join('\n')}\n` +
      'MUSTER_API_PORT moves all of them, unless they are set one by one.',
  );
}

function portProblem({ host, port, owner, setting }: PortNeed): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be opened (${error.message})`;
      resolve(`${owner}: port ${port} of ${host} ${reason} (set ${setting})`);
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

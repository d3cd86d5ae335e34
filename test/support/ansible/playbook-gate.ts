import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../eventually.ts';

const ARRIVAL_LIMIT_MS = 180_000;

/** Where playbooks say that they run, and wait until they may go on: so a session runs for as long as a test wants it to. */
export interface PlaybookGate {
  port: number;
  /** A playbook of one task that comes here in the name of the variable `who`. */
  playbook: string;
  /** How often each has come. */
  arrivals(): Record<string, number>;
  /** Waits until all of these have come. */
  untilThere(names: readonly string[]): Promise<void>;
  /** Lets all go on that wait, and those that come later. */
  open(): void;
  /** Those that come from now on wait again. */
  shut(): void;
  stop(): Promise<void>;
}

/** A gate at an address of this machine that playbooks reach; it is shut. */
export async function openPlaybookGate(host: string): Promise<PlaybookGate> {
  const arrivals = new Map<string, number>();
  const waiting = new Set<ServerResponse>();
  let isOpen = false;
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1);
    arrivals.set(name, (arrivals.get(name) ?? 0) + 1);
    if (isOpen) response.end();
    else waiting.add(response);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    playbook: `
- hosts: all
  gather_facts: false
  tasks:
    - name: come and wait
      ansible.builtin.uri: { url: "http://${host}:${port}/{{ who }}", timeout: 900 }
      changed_when: true
`,
    arrivals: () => Object.fromEntries(arrivals),
    untilThere: async (names) => {
      const missing = () => names.filter((name) => !arrivals.has(name));
      await eventually('all playbooks run', () => missing().length === 0, ARRIVAL_LIMIT_MS).catch((error: Error) => {
        throw new Error(`${error.message}; missing: ${missing().join(', ')}`);
      });
    },
    open: () => {
      isOpen = true;
      for (const response of waiting) response.end();
      waiting.clear();
    },
    shut: () => {
      isOpen = false;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../eventually.ts';
import { hostAddress } from '../kubernetes/dev-cluster.ts';

const WORD_LIMIT_MS = 240_000;

/** What playbooks say of themselves, beside anything that Muster records. */
export interface PlaybookJournal {
  /**
   * A playbook that writes a line in each host's /tmp/played, says `start-SESSION`, comes here, and says `end-SESSION`; `middle`: what its
   * pod does in place of coming here.
   */
  playbook(middle?: string): string;
  /** What was said, sorted. */
  said(): string[];
  /** Waits until it was said. */
  until(word: string): Promise<void>;
  /** Keeps the playbook of a session in its middle; answers how to let it go on. */
  keep(session: string): () => void;
  forget(): void;
  close(): void;
}

/** Listens where pods reach it. */
export async function openPlaybookJournal(): Promise<PlaybookJournal> {
  const words: string[] = [];
  const kept = new Map<string, ServerResponse[]>();
  const server = createServer((request, response) => {
    const word = (request.url ?? '').slice(1);
    const [kind, session = ''] = word.split(/-(.*)/);
    if (kind !== 'middle') words.push(word);
    const waiting = kind === 'middle' ? kept.get(session) : undefined;
    if (waiting === undefined) response.end();
    else waiting.push(response);
  });
  await once(server.listen(0, hostAddress()), 'listening');
  const url = `http://${hostAddress()}:${(server.address() as AddressInfo).port}`;
  // Ansible itself comes, and no program that a module would have to start.
  const coming = (word: string) =>
    `ansible.builtin.debug: { msg: "{{ lookup('ansible.builtin.url', '${url}/${word}-' ~ session, timeout=900) }}" }`;
  return {
    playbook: (middle = coming('middle')) => `
- hosts: all
  gather_facts: false
  vars:
    session: "{{ lookup('ansible.builtin.env', 'SESSION_NAME') }}"
  tasks:
    - ansible.builtin.raw: echo played >>/tmp/played
    - ${coming('start')}
      delegate_to: localhost
    - ${middle}
      delegate_to: localhost
    - ${coming('end')}
      delegate_to: localhost
`,
    said: () => [...words].sort(),
    until: async (word) => {
      await eventually(`a playbook says ${word}`, () => words.includes(word), WORD_LIMIT_MS);
    },
    keep: (session) => {
      kept.set(session, []);
      return () => {
        for (const response of kept.get(session) ?? []) response.end();
        kept.delete(session);
      };
    },
    forget: () => {
      words.length = 0;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

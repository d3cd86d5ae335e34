/** Playbooks that go on until they are ended, each in a way of its own. */
import { readFile } from 'node:fs/promises';
import type { TestRepository } from '../test/support/git/git-repository.ts';

/** An argument that no other process has: by it those are known which the tasks have come to. */
const SECONDS = '86399';

interface Endless {
  /** For people. */
  what: string;
  tasks: string;
  /** How many processes sleep once the last task is at work. */
  sleepers: number;
}

/** By the name of the configuration; the playbook has the same name. */
export const ENDLESS = {
  sleeping: {
    what: 'a command that sleeps',
    tasks: `    - ansible.builtin.command: sleep ${SECONDS}\n`,
    sleepers: 1,
  },
  deaf: {
    what: 'deaf to TERM',
    tasks: `    - ansible.builtin.shell: |
        trap '' TERM INT HUP
        setsid sh -c "trap '' TERM INT HUP; sleep ${SECONDS}; true" &
        sleep ${SECONDS}
        true
`,
    sleepers: 2,
  },
  detached: {
    what: 'with an async task',
    tasks: `    - ansible.builtin.command: sleep ${SECONDS}
      async: ${SECONDS}
      poll: 0
    - ansible.builtin.command: sleep ${SECONDS}
`,
    sleepers: 2,
  },
} satisfies Record<string, Endless>;

export type EndlessPlay = keyof typeof ENDLESS;

export async function commitEndlessPlays(repository: TestRepository): Promise<void> {
  const play = ([name, { tasks }]: [string, Endless]) =>
    [`${name}.yml`, `- hosts: all\n  gather_facts: false\n  tasks:\n${tasks}`] as const;
  await repository.commit(Object.fromEntries(Object.entries(ENDLESS).map(play)));
}

/** How many of these processes of this machine sleep for a task. */
export async function countSleepers(pids: Iterable<number>): Promise<number> {
  const lines = await Promise.all([...pids].map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line === `sleep\0${SECONDS}\0`).length;
}

/** A command that prints how many processes of its own machine (or container) sleep for a task. */
export const COUNT_SLEEPERS = `grep -lxz 'sleep' /proc/[0-9]*/cmdline 2>/dev/null | xargs -r grep -lxz '${SECONDS}' 2>/dev/null | wc -l`;

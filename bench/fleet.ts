/** The inputs of the session measurements: hosts on a local connection and playbooks of a few small tasks. */
import type { TestRepository } from '../test/support/git/git-repository.ts';

const task = (number: number) => `    - name: task ${number}
      ansible.builtin.command: "true"
      changed_when: false
`;

/** A playbook of so many tasks. */
export const playOf = (tasks: number): string =>
  `- hosts: all\n  gather_facts: false\n  tasks:\n${Array.from({ length: tasks }, (_, index) => task(index + 1)).join('')}`;

/** Layers of the longest session. */
const LAYERS_MAX = 10;

/** The playbooks of a session of so many layers, of one task each. */
export const layersOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `layer-${index}.yml`);

/** Commits `one.yml` (one task), `three.yml` (three), `sixty.yml`, and those of layers. */
export async function commitPlaybooks(repository: TestRepository): Promise<void> {
  const layers = Object.fromEntries(layersOf(LAYERS_MAX).map((name) => [name, playOf(1)]));
  await repository.commit({ 'one.yml': playOf(1), 'three.yml': playOf(3), 'sixty.yml': playOf(60), ...layers });
}

export const hostNames = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);

/** What Muster writes for these hosts. */
export function inventoryOf(hosts: string[]): string {
  const lines = hosts.map((host) => `    "${host}":\n      "ansible_connection": !unsafe "local"\n`);
  return `"all":\n  "hosts":\n${lines.join('')}`;
}

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where Ansible looks for roles when nothing names a folder. */
const DEFAULT_ROLES = ['~/.ansible/roles', '/usr/share/ansible/roles', '/etc/ansible/roles'];

export interface RolesConfigOptions {
  home: string;
  /** Where the file is made. */
  folder: string;
  environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the path of a configuration of Ansible by which playbooks find the roles of the home by their bare names; undefined where the site
 * has a configuration, or says itself where roles are.
 */
export async function rolesConfig({ home, folder, environment }: RolesConfigOptions): Promise<string | undefined> {
  const { ANSIBLE_CONFIG: named, ANSIBLE_ROLES_PATH: roles, HOME: user } = environment;
  const found = [...(user ? [join(user, '.ansible.cfg')] : []), '/etc/ansible/ansible.cfg'].some((path) =>
    existsSync(path),
  );
  if (named || roles || found) return undefined;
  const path = join(folder, 'ansible.cfg');
  await writeFile(path, `[defaults]\nroles_path = ${[join(home, 'roles'), ...DEFAULT_ROLES].join(':')}\n`, {
    mode: 0o600,
  });
  return path;
}

import { delimiter } from 'node:path';

/** What playbooks get of our own environment: the usual words of a login, proxies, nothing of Muster's settings. */
const PASSED = /^(HOME|USER|LOGNAME|SHELL|TZ|SSL_CERT_FILE|SSL_CERT_DIR|(https?|no|all)_proxy)$/i;

/** Environment that every playbook starts from; the folder of Ansible comes first in its search path. */
export function baseEnvironment(env: Record<string, string | undefined>, ansible: string): Record<string, string> {
  const passed = Object.entries(env).filter((entry): entry is [string, string] => {
    const [name, value] = entry;
    return PASSED.test(name) && value !== undefined;
  });
  return {
    // Ansible refuses to work in a language whose text is not UTF-8.
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    ...Object.fromEntries(passed),
    PATH: [ansible, env.PATH ?? '/usr/local/bin:/usr/bin:/bin'].join(delimiter),
  };
}

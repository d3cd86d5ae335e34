import { isMusterError } from '../../domain/errors.ts';
import type { OptionsChange } from './patch-options.ts';

export interface OptionWarningDependencies {
  /** Text of an Ansible configuration; throws `config_missing`. */
  ansibleConfig(name: string): Promise<string>;
}

/** What options that were set mean and is not there: they are stored all the same, since it may come later. */
export async function optionWarnings(
  { ansibleConfig }: OptionWarningDependencies,
  { default_ansible_config: name }: OptionsChange,
): Promise<string[]> {
  if (name === undefined) return [];
  try {
    await ansibleConfig(name);
    return [];
  } catch (error) {
    if (!isMusterError(error)) throw error;
    return [
      error.code === 'config_missing'
        ? `option default_ansible_config names ConfigMap ${name}, and namespace services has no such ConfigMap with the key ansible.cfg: sessions fail until it is there`
        : `whether there is a ConfigMap ${name} cannot be seen now`,
    ];
  }
}

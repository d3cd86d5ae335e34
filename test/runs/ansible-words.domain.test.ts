import { expect, test } from '@jest/globals';
import { ansibleError } from '../../domain/runs/ansible-words.ts';

const LAYER = '/srv/muster/workspaces/0b8f/layer0';
const RAN = 'PLAY [all] ****\n\nTASK [a] ****\nok: [n1]\nchanged: [n2]\n\n';
const origin = (place: string) => `Origin: ${place}\n\n2   gather_facts: no\n3   roles:\n    ^ column 7\n\n`;

test.each([
  [
    'a role that is not there',
    `[ERROR]: the role 'nosuch' was not found in ${LAYER}/roles:/etc/ansible/roles:${LAYER}\n${origin(`${LAYER}/site.yml:4:7`)}`,
    "the role 'nosuch' was not found in roles:/etc/ansible/roles: (site.yml:4)",
  ],
  [
    'a collection that is not there',
    `[WARNING]: Error loading plugin 'nosuch.things.thing'\n[ERROR]: couldn't resolve module/action 'nosuch.things.thing'.\n${origin(`${LAYER}/plays/absent.yml:4:7`)}`,
    "couldn't resolve module/action 'nosuch.things.thing'. (plays/absent.yml:4)",
  ],
  [
    'a module whose collection is not there, by its short name',
    `[ERROR]: couldn't resolve module/action 'sysctl'. This often indicates a misspelling, missing collection, or incorrect module path.\n${origin(`${LAYER}/site.yml:4:7`)}`,
    "couldn't resolve module/action 'sysctl'. This often indicates a misspelling, missing collection, or incorrect module path. (site.yml:4) The module is of the collection ansible.posix, which is not installed here: name it in collections/requirements.yml, and install it for the runner or put it into the repository",
  ],
  [
    'a short name that no collection is known for',
    `[ERROR]: couldn't resolve module/action 'sysctll'.\n${origin(`${LAYER}/site.yml:4:7`)}`,
    "couldn't resolve module/action 'sysctll'. (site.yml:4)",
  ],
  [
    'no YAML',
    `[ERROR]: YAML parsing failed: While parsing a flow node did not find expected node content.\nOrigin: /inventory/layer12/x.yml:5:1\n\n(source not shown: file truncated)\n\n`,
    'YAML parsing failed: While parsing a flow node did not find expected node content. (x.yml:5)',
  ],
  [
    'an output plugin that is not there',
    "[WARNING]: Error loading plugin 'community.general.yaml'\n[ERROR]: Could not load 'yaml' callback plugin.\n",
    "Could not load 'yaml' callback plugin.",
  ],
  [
    'a strategy that is not there',
    `PLAY [all] ****\n[ERROR]: Invalid play strategy specified: mitogen_linear\n${origin(`${LAYER}/ok.yml:1:3`)}`,
    'Invalid play strategy specified: mitogen_linear (ok.yml:1)',
  ],
  [
    'a setting without sense, told before Ansible has begun',
    "ERROR: Config 'DEFAULT_FORKS' from '/w/1/ansible.cfg' has an invalid value: 'many'\n\nTraceback (most recent call last):\n  File x\nValueError: Invalid\n",
    "Config 'DEFAULT_FORKS' from '/w/1/ansible.cfg' has an invalid value: 'many'",
  ],
  [
    'a byte order mark',
    "ERROR: Error reading config file (/w/1/ansible.cfg): File contains no section headers.\nfile: '<string>', line: 1\n'\\ufeff[defaults]\\n'\n\nTraceback (most recent call last):\n",
    "Error reading config file (/w/1/ansible.cfg): File contains no section headers. file: '<string>', line: 1 '\\ufeff[defaults]\\n'",
  ],
  [
    'a file of variables that cannot be read',
    `[ERROR]: Invalid vars_files file '${LAYER}/v.yml': Attempting to decrypt but no vault secrets found.\n\nInvalid vars_files file.\n\n<<< caused by >>>\n\nAttempting to decrypt.\nOrigin: ${LAYER}/v.yml\n\n`,
    "Invalid vars_files file 'v.yml': Attempting to decrypt but no vault secrets found.",
  ],
  [
    'a limit that matches nothing',
    '[WARNING]: Could not match supplied host pattern, ignoring: x1\n[WARNING]: Could not match supplied host pattern, ignoring: x2\n[ERROR]: Specified inventory, host pattern and/or --limit leaves us with no hosts to target.\n',
    'Specified inventory, host pattern and/or --limit leaves us with no hosts to target. Not in the inventory: x1, x2',
  ],
  [
    'Ansible 2.11',
    `ERROR! the role 'x' was not found in ${LAYER}/roles\n\nThe error appears to be in '${LAYER}/site.yml': line 5, column 7, but may\nbe elsewhere in the file depending on the exact syntax problem.\n\nThe offending line appears to be:\n\n  roles:\n    - x\n      ^ here\n`,
    "the role 'x' was not found in roles (site.yml:5)",
  ],
  [
    'a play that cannot be resolved after others ran',
    `${RAN}[ERROR]: 'target_group' is undefined\n${origin(`${LAYER}/site.yml:6:10`)}`,
    "'target_group' is undefined (site.yml:6)",
  ],
  [
    'the end of the playbook after a task that failed',
    `${RAN}[ERROR]: Task failed: Module failed: non-zero return code\n${origin(`${LAYER}/site.yml:4:7`)}fatal: [n1]: FAILED! => {}\n[ERROR]: 'g' is undefined\n${origin(`${LAYER}/site.yml:6:10`)}`,
    "'g' is undefined (site.yml:6)",
  ],
  [
    'a file that tasks include and that is not there: an error of hosts',
    `${RAN}[ERROR]: Could not find or access '${LAYER}/x.yml'\n\nfatal: [n1]: FAILED! => {}\n\nPLAY RECAP ****\nn1 : ok=0\n`,
    null,
  ],
  ['failed tasks', `${RAN}[ERROR]: Task failed: Module failed\nOrigin: x:4:7\n\n`, null],
  ['nothing wrong', `${RAN}PLAY RECAP ****\n`, null],
  ['nothing', '', null],
  ['what a task prints', `${RAN}changed: [n1] => {"stdout": "[ERROR]: mine"}\n`, null],
  [
    'the debugger without a keyboard',
    `${RAN}fatal: [n1]: FAILED! => {}\n[n1] TASK: br (debug)> User interrupted execution\n`,
    'User interrupted execution at the prompt of the task debugger',
  ],
  [
    'a word that it does not know',
    'usage: ansible-playbook [-h]\nansible-playbook: error: unrecognized arguments: --frob\n \nusage: again\n',
    'unrecognized arguments: --frob',
  ],
  [
    'an exception of Python alone',
    `Traceback (most recent call last):\n  File "${LAYER}/x.py", line 3\nImportError: cannot import name 'x'\n`,
    "ImportError: cannot import name 'x'",
  ],
  [
    'the launcher',
    '[muster] cannot run ["ansible-playbook"]: No such file\n',
    'cannot run ["ansible-playbook"]: No such file',
  ],
  ['colours', '\u001b[0;31m[ERROR]: red\u001b[0m\r\n', 'red'],
])('%s', (_title, output, words) => {
  expect(ansibleError(output)).toBe(words);
});

test('a sentence is one line of bounded length', () => {
  const words = ansibleError(`[ERROR]: ${'long\twords '.repeat(400)}\nOrigin: ${LAYER}/site.yml:6:10\n`) ?? '';
  expect(words.length).toBeLessThanOrEqual(600);
  expect(words).not.toMatch(/[\n\t]/);
});

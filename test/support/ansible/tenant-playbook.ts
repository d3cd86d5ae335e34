/** Says which login of its tenant a playbook has: `token <...> of LENGTH at <ADDRESS>`. */
export const TENANT_PLAYBOOK = `
- hosts: all
  gather_facts: false
  vars:
    token: "{{ lookup('ansible.builtin.env', 'VAULT_TOKEN') }}"
  tasks:
    - ansible.builtin.debug:
        msg: "token <{{ token }}> of {{ token | length }} at <{{ lookup('ansible.builtin.env', 'VAULT_ADDR') }}>"
      changed_when: true
`;

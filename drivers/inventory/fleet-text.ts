/** The generated inventory of a fleet as text in pieces: what `inventoryData` and `inventoryLines` make of a whole tree below `all`. */
import type { HostVariables } from '../../domain/components/inventory/inventory-tree.ts';
import { bareHosts, hostLines, hostText, type InventoryForm, quoted } from './write-inventory.ts';

export interface FleetText {
  begin: string;
  /** In place of groups, where there is none. */
  noGroups: string;
  group(name: string, isFirst: boolean): string;
  members(names: readonly string[], isFirst: boolean): string;
  groupEnd: string;
  groupsEnd: string;
  hosts: string;
  host(name: string, variables: HostVariables): string;
  /** The texts of some hosts together. */
  joined(hosts: readonly string[], isFirst: boolean): string;
  hostsEnd: string;
  end: string;
}

export const FLEET_TEXT: Readonly<Record<InventoryForm, FleetText>> = {
  data: {
    begin: '{"all":{"children":',
    noGroups: '{}',
    group: (name, isFirst) => `${isFirst ? '{' : ','}"${name}":{"hosts":{`,
    members: (names, isFirst) => `${isFirst ? '' : ','}${bareHosts(names)}`,
    groupEnd: '}}',
    groupsEnd: '}',
    hosts: ',"hosts":{',
    host: hostText,
    joined: (hosts, isFirst) => `${isFirst ? '' : ','}${hosts.join(',')}`,
    hostsEnd: '}',
    end: '}}\n',
  },
  yaml: {
    begin: '"all":\n',
    noGroups: '  "children": {}\n',
    group: (name, isFirst) => `${isFirst ? '  "children":\n' : ''}    ${quoted(name)}:\n      "hosts":\n`,
    members: (names) => names.map((name) => hostLines(name, {}, '        ')).join(''),
    groupEnd: '',
    groupsEnd: '',
    hosts: '  "hosts":\n',
    host: (name, variables) => hostLines(name, variables, '    '),
    joined: (hosts) => hosts.join(''),
    hostsEnd: '',
    end: '',
  },
};

/** Returns the name of a host out of its text; names of hosts are plain. */
export function nameInText(host: string): string {
  const start = host.indexOf('"') + 1;
  return host.slice(start, host.indexOf('"', start));
}

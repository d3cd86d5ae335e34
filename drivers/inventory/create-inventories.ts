import { hsmInventory } from '../../domain/components/inventory/hsm-inventory.ts';
import {
  componentInventory,
  type InventoryComponent,
  leftOutWarnings,
} from '../../domain/components/inventory/inventory.ts';
import {
  type InventoryTree,
  type LimitHosts,
  limitHosts,
  namesOf,
  restrictTo,
} from '../../domain/components/inventory/inventory-tree.ts';
import type { InventoryScope } from '../../domain/configurations/schema.ts';
import { plainLimitHosts } from '../../domain/sessions/ansible-limit.ts';
import {
  IMAGE_PYTHON,
  type ImageLogin,
  imageInventory,
  type OpenSessionImage,
} from '../../domain/sessions/images/image-inventory.ts';
import { specInventory } from '../../domain/sessions/spec-inventory.ts';
import { addEnvironmentVariables } from './environment-vars.ts';
import type { HsmClient } from './hsm-client.ts';
import { computesGroups, prepareInventoryFolder, requireRepositoryInventory } from './inventory-folder.ts';
import { type EachPage, type Fleet, type WrittenFleet, writeFleet } from './write-fleet.ts';
import { type InventoryForm, writeInventory } from './write-inventory.ts';

/** Where dynamic inventories come from: the components' records, or a hardware state manager. */
export type InventoryProvider =
  | {
      kind: 'components';
      /** Id and tags of those among `ids` that exist. */
      readComponents(ids: readonly string[]): Promise<readonly InventoryComponent[]>;
      eachPage: EachPage;
      /** Whether a tag of any component may make a group of one of these names. */
      anyGroup(names: readonly string[]): Promise<boolean>;
      allowLocalConnection: boolean;
    }
  | { kind: 'hsm'; read: HsmClient };

export interface WriteInventory {
  definition: 'dynamic' | 'spec' | 'repo' | 'image';
  groups: readonly { name: string; members: readonly string[] }[];
  /** The session's limit; a plain list of hosts makes a dynamic inventory just these, with scope `limit`. */
  limit: string;
  scope: InventoryScope;
  allowPartial: boolean;
  form: InventoryForm;
  /** Of a target of images: their shells, and how Ansible logs in there. */
  images?: ImageLogin & { open: readonly OpenSessionImage[] };
  /** Folder of the inventory; holds the additional inventory when there is one. */
  dir: string;
  signal: AbortSignal;
}

export interface WrittenInventory {
  /** Hosts of the generated part; `null` when nothing is generated. */
  hosts: number | null;
  /** What the items of a plain limit are in the generated part; `null` for another limit, or when nothing is generated. */
  limit: LimitHosts | null;
  /** What was left out, and why. */
  warnings: string[];
}

/** What option `inventory_scope` costs a playbook, said in the events of each session that it concerns. */
const NARROW =
  'The inventory has only the hosts of the limit, and their groups: option inventory_scope is limit. ' +
  'groups and hostvars hold no other host, and delegate_to reaches none; with all they do.';

/** The inventory driver: writes a session's inventory beside what its additional inventory brought (cfs-flows 3). */
export function createInventories(provider: InventoryProvider): {
  write(request: WriteInventory): Promise<WrittenInventory>;
} {
  const treeOf = async (request: WriteInventory): Promise<{ tree: InventoryTree; warnings: string[] } | Fleet> => {
    if (request.definition === 'spec') return { tree: specInventory(request.groups), warnings: [] };
    if (request.definition === 'image') {
      const { open, ...login } = request.images ?? { open: [], keyFile: '', interpreter: IMAGE_PYTHON.own };
      return { tree: imageInventory(request, open, login), warnings: [] };
    }
    // Groups that are computed are the same only where all hosts are there.
    const isNarrowed = request.scope === 'limit' && !(await computesGroups(request.dir));
    const names = isNarrowed ? plainLimitHosts(request.limit) : null;
    if (provider.kind === 'hsm') {
      const { records, warnings } = await provider.read(request);
      const tree = hsmInventory(records);
      const kept = names === null ? tree : restrictTo(tree, names);
      return { tree: kept, warnings: [...warnings, ...tree.warnings, ...(kept === tree ? [] : [NARROW])] };
    }
    // A name that is a group, or no component, can only be judged by the whole inventory.
    const named = names === null || (await provider.anyGroup(names)) ? null : await provider.readComponents(names);
    if (named === null || named.length !== names?.length) return { eachPage: provider.eachPage, rules: provider };
    const tree = componentInventory(named, provider);
    return { tree, warnings: [...leftOutWarnings(tree.leftOut, request.limit), NARROW] };
  };
  return {
    write: async (request) => {
      if (request.definition === 'repo') {
        await requireRepositoryInventory(request.dir);
        await addEnvironmentVariables(request.dir);
        return { hosts: null, limit: null, warnings: [] };
      }
      const made = await treeOf(request);
      await prepareInventoryFolder(request.dir);
      const limitNames = plainLimitHosts(request.limit);
      const { hosts, names, warnings } =
        'tree' in made
          ? await writeTree(request, made)
          : await writeFleet(request, made, { limitNames: new Set(limitNames) });
      await addEnvironmentVariables(request.dir);
      return { hosts, limit: limitNames === null ? null : limitHosts(names, limitNames), warnings };
    },
  };
}

async function writeTree(
  { dir, form }: WriteInventory,
  { tree, warnings }: { tree: InventoryTree; warnings: string[] },
): Promise<WrittenFleet> {
  await writeInventory(dir, tree, form);
  const names = namesOf(tree);
  return { hosts: names.hosts.size, names, warnings };
}

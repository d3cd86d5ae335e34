/** A configuration as a form has it: every member a text, none of them absent. */
import type {
  AdditionalInventory,
  Configuration,
  ConfigurationBody,
  Layer,
  RolloutPolicy,
} from '../../../domain/configurations/schema.ts';

/** A layer, or the additional inventory, which has no playbook. */
export interface DraftLayer {
  /** Stays the same while layers change their places. */
  key: number;
  name: string;
  clone_url: string;
  source: string;
  playbook: string;
  branch: string;
  commit: string;
  /** The commit that its branch had when it was written; '' for a layer that names its commit itself. */
  resolved: string;
  special_parameters: Layer['special_parameters'];
}

/** Texts of a rollout policy. */
export interface DraftPolicy {
  max_at_once: string;
  canary: string;
  max_failed: string;
}

export interface Draft {
  description: string;
  layers: DraftLayer[];
  inventory: DraftLayer | null;
  policy: DraftPolicy;
  tenant_name: string | undefined;
}

/** Texts of a layer that a user writes. */
export const LAYER_FIELDS = ['name', 'clone_url', 'source', 'playbook', 'branch', 'commit'] as const;
export type LayerField = (typeof LAYER_FIELDS)[number];
export const FIELD_NAMES: Record<LayerField, string> = {
  name: 'Layer name',
  clone_url: 'Clone URL',
  source: 'Source',
  playbook: 'Playbook',
  branch: 'Branch',
  commit: 'Commit',
};

/** Returns a form without a word in it, with one layer. */
export function emptyDraft(): Draft {
  const policy = { max_at_once: '', canary: '', max_failed: '' };
  return { description: '', layers: [draftLayer({}, 0)], inventory: null, policy, tenant_name: undefined };
}

/** Returns the form of a stored configuration. Of a layer with a branch the commit is what the branch was then: a write asks anew. */
export function draftOf(record: Omit<ConfigurationBody, 'name'>): Draft {
  const { max_at_once, canary, max_failed } = record.muster?.rollout ?? {};
  const text = (value: string | number | undefined) => (value === undefined ? '' : String(value));
  return {
    description: record.description ?? '',
    layers: record.layers.map(draftLayer),
    inventory: record.additional_inventory ? draftLayer(record.additional_inventory, 0) : null,
    policy: {
      max_at_once: text(max_at_once),
      canary: typeof canary === 'object' ? JSON.stringify(canary) : text(canary),
      max_failed: text(max_failed),
    },
    tenant_name: record.tenant_name,
  };
}

/** Returns a layer for the form, absent members as empty texts. */
export function draftLayer(layer: Partial<Layer> | AdditionalInventory, key: number): DraftLayer {
  const { name = '', clone_url = '', source = '', playbook = '', branch = '', commit = '' } = layer as Partial<Layer>;
  const { special_parameters } = layer as Partial<Layer>;
  const isOfBranch = branch !== '';
  const [own, resolved] = isOfBranch ? ['', commit] : [commit, ''];
  return { key, name, clone_url, source, playbook, branch, commit: own, resolved, special_parameters };
}

/** Returns a key that none of the layers has. */
export function freeKey(layers: readonly DraftLayer[]): number {
  return layers.reduce((most, { key }) => Math.max(most, key), -1) + 1;
}

/** Returns the layers with one of them at another place; places outside leave all as they are. */
export function moved(layers: readonly DraftLayer[], from: number, to: number): DraftLayer[] {
  const layer = layers[from];
  if (layer === undefined || to < 0 || to >= layers.length) return [...layers];
  const others = layers.filter((_, index) => index !== from);
  return [...others.slice(0, to), layer, ...others.slice(to)];
}

/** What the form asks for, or why it says nothing that could be sent. The API judges all else. */
export type Written = { body: ConfigurationBody } | { mistake: string };

/** Returns the body of a PUT. */
export function bodyOf({ description, layers, inventory, policy, tenant_name }: Draft): Written {
  const canary = canaryOf(policy.canary);
  if ('mistake' in canary) return canary;
  const rollout: RolloutPolicy = {
    ...(policy.max_at_once.trim() === '' ? {} : { max_at_once: shareOf(policy.max_at_once) }),
    ...canary,
    ...(policy.max_failed.trim() === '' ? {} : { max_failed: shareOf(policy.max_failed) }),
  };
  return {
    body: {
      ...(description === '' ? {} : { description }),
      layers: layers.map(writtenLayer) as Layer[],
      ...(inventory === null ? {} : { additional_inventory: writtenLayer(inventory) }),
      ...(tenant_name === undefined ? {} : { tenant_name }),
      ...(Object.keys(rollout).length === 0 ? {} : { muster: { rollout } }),
    },
  };
}

function writtenLayer(layer: DraftLayer): AdditionalInventory {
  const texts = LAYER_FIELDS.flatMap((field) => (layer[field].trim() === '' ? [] : [[field, layer[field].trim()]]));
  const { special_parameters } = layer;
  return { ...Object.fromEntries(texts), ...(special_parameters === undefined ? {} : { special_parameters }) };
}

/** A number, or a share such as `10%`, which the API judges. */
function shareOf(text: string): number | string {
  return /^[0-9]{1,9}$/.test(text.trim()) ? Number(text.trim()) : text.trim();
}

function canaryOf(text: string): Pick<RolloutPolicy, 'canary'> | { mistake: string } {
  const written = text.trim();
  if (written === '') return {};
  if (/^[0-9]{1,9}$/.test(written)) return { canary: Number(written) };
  try {
    const canary: unknown = JSON.parse(written);
    if (typeof canary === 'object' && canary !== null) return { canary: canary as RolloutPolicy['canary'] };
  } catch {
    // Said below.
  }
  return { mistake: 'Canary is a number of components, or an object such as {"ids": ["x1"]}' };
}

/** Whether two forms ask for the same. */
export function asksTheSame(one: Draft, other: Draft): boolean {
  return JSON.stringify(bodyOf(one)) === JSON.stringify(bodyOf(other));
}

/** Returns the body that makes a version what is wanted again: at the commits that it had, whatever its branches are now. */
export function restoredBody(version: Omit<ConfigurationBody, 'name'>): ConfigurationBody {
  const pinned = <T extends AdditionalInventory>({ branch, ...layer }: T) =>
    ({ ...layer, ...(layer.commit || !branch ? {} : { branch }) }) as T;
  const { description, layers, additional_inventory, tenant_name, muster } = version;
  return {
    ...(description === undefined ? {} : { description }),
    layers: layers.map(pinned),
    ...(additional_inventory === undefined ? {} : { additional_inventory: pinned(additional_inventory) }),
    ...(tenant_name === undefined ? {} : { tenant_name }),
    ...(muster === undefined ? {} : { muster }),
  };
}

/** The stored configuration with the tag of its version. */
export interface Stored {
  record: Configuration;
  tag: string | null;
}

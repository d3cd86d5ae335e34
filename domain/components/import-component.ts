import { importMistake } from '../import-record.ts';
import { type ForeignComponent, ForeignStateLayerSchema } from './import-schema.ts';
import { type Component, ComponentMusterSchema, type StateLayer } from './schema.ts';
import { splitCommit } from './state-layers.ts';

export interface ImportedComponent {
  component: Component;
  /** What was left out or filled in, as sentences. */
  notes: string[];
}

export interface ImportComponentOptions {
  /** Time of layers that have none, `YYYY-MM-DDTHH:MM:SSZ`. */
  now: string;
  /** Whether `enabled` is taken over; else the component is disabled, so that nothing starts by itself. */
  enable: boolean;
}

/**
 * The component that another CFS shows, as it is stored here: with its state and the times of it. What is absent or null gets
 * the default of a PUT (cfs-api 6.3.5), but for the boot, which only the node itself knows; a layer that says nothing usable is left out and noted. A layer without a
 * time keeps the one that `stored` has for it, so that a second import changes nothing.
 */
export function importedComponent(
  foreign: ForeignComponent,
  stored: Component | undefined,
  { now, enable }: ImportComponentOptions,
): ImportedComponent {
  const notes: string[] = [];
  const tags = Object.entries(foreign.tags ?? {}).filter((tag): tag is [string, string] => {
    if (typeof tag[1] !== 'string') notes.push(`tag ${tag[0]} left out: it is no text`);
    return typeof tag[1] === 'string' && tag[1] !== '';
  });
  const layers = layersOf(foreign.state, notes);
  const times = storedTimes(stored);
  const boot = ComponentMusterSchema.safeParse(foreign.muster).data ?? stored?.muster;
  return {
    component: {
      id: foreign.id,
      state: layers.map((layer) => {
        const known = times(layer);
        return { ...layer, last_updated: layer.last_updated ?? known ?? now };
      }),
      desired_config: foreign.desired_config ?? '',
      error_count: foreign.error_count ?? 0,
      ...(typeof foreign.retry_policy === 'number' ? { retry_policy: foreign.retry_policy } : {}),
      enabled: enable && (foreign.enabled ?? false),
      tags: Object.fromEntries(tags),
      ...(boot === undefined ? {} : { muster: boot }),
    },
    notes,
  };
}

type Layer = Omit<StateLayer, 'last_updated'> & { last_updated: string | undefined };

function layersOf(state: unknown, notes: string[]): Layer[] {
  if (!Array.isArray(state)) {
    notes.push(state === undefined || state === null ? 'it had no state' : 'its state was no list and is left out');
    return [];
  }
  return state.flatMap((entry, index): Layer[] => {
    const parsed = ForeignStateLayerSchema.safeParse(entry);
    if (!parsed.success) {
      notes.push(`state.${index} left out: ${importMistake(parsed.error.issues)}`);
      return [];
    }
    const { clone_url, playbook, session_name, last_updated } = parsed.data;
    const { commit, status } = splitCommit(parsed.data.commit);
    return [
      {
        clone_url,
        playbook,
        commit,
        status: status ?? parsed.data.status ?? 'applied',
        session_name: session_name ?? '',
        last_updated: last_updated || undefined,
      },
    ];
  });
}

/** Answers the stored time of each layer that it is asked for in turn: of several equal ones each has its own. */
function storedTimes(stored: Component | undefined): (layer: Layer) => string | undefined {
  const left = [...(stored?.state ?? [])];
  return (layer) => {
    const place = left.findIndex(
      (entry) =>
        entry.clone_url === layer.clone_url &&
        entry.playbook === layer.playbook &&
        entry.commit === layer.commit &&
        entry.status === layer.status &&
        entry.session_name === layer.session_name,
    );
    return place === -1 ? undefined : left.splice(place, 1)[0]?.last_updated;
  };
}

import { useId } from 'react';
import { type Draft, type DraftLayer, draftLayer, freeKey, moved } from './draft.ts';
import { LayerFields } from './layer-fields.tsx';

interface DraftFieldsProps {
  draft: Draft;
  /** Whether it can only be read. */
  isLocked: boolean;
  change(draft: Draft): void;
}

/** The form of a configuration: its layers in their order, the inventory beside them, and how changes go out. */
export function DraftFields({ draft, isLocked, change }: DraftFieldsProps) {
  const id = useId();
  const { description, layers, inventory } = draft;
  const setLayers = (next: DraftLayer[]) => change({ ...draft, layers: next });
  return (
    <>
      <p>
        <label htmlFor={`${id}-description`}>Description</label>{' '}
        <input
          id={`${id}-description`}
          value={description}
          disabled={isLocked}
          onChange={({ target }) => change({ ...draft, description: target.value })}
        />
      </p>
      {layers.length === 0 && <p>It has no layers: components that want it have nothing to reach.</p>}
      {layers.map((layer, index) => (
        <LayerFields
          key={layer.key}
          title={`Layer ${index + 1}`}
          layer={layer}
          isLocked={isLocked}
          hasPlaybook
          change={(next) => setLayers(layers.map((one) => (one.key === layer.key ? next : one)))}
          up={index === 0 ? undefined : () => setLayers(moved(layers, index, index - 1))}
          down={index === layers.length - 1 ? undefined : () => setLayers(moved(layers, index, index + 1))}
          remove={() => setLayers(layers.filter(({ key }) => key !== layer.key))}
        />
      ))}
      {inventory !== null && (
        <LayerFields
          title="Additional inventory"
          layer={inventory}
          isLocked={isLocked}
          hasPlaybook={false}
          change={(next) => change({ ...draft, inventory: next })}
          remove={() => change({ ...draft, inventory: null })}
        />
      )}
      {!isLocked && (
        <div className="buttons">
          <button type="button" onClick={() => setLayers([...layers, draftLayer({}, freeKey(layers))])}>
            Add layer
          </button>
          {inventory === null && (
            <button type="button" onClick={() => change({ ...draft, inventory: draftLayer({}, 0) })}>
              Add additional inventory
            </button>
          )}
        </div>
      )}
      <PolicyFields draft={draft} isLocked={isLocked} change={change} />
    </>
  );
}

const POLICY_FIELDS = [
  ['max_at_once', 'At once', 'a number of components or a share such as 10%; empty: no limit'],
  ['canary', 'Canary', 'a number, or an object such as {"ids": ["x1"]}; empty: no canary'],
  ['max_failed', 'Most failed', 'a number or a share; empty: it is never stopped'],
] as const;

function PolicyFields({ draft, isLocked, change }: DraftFieldsProps) {
  const id = useId();
  const { policy } = draft;
  return (
    <fieldset className="layer" aria-label="Rollout policy">
      <h3>Rollout policy</h3>
      {POLICY_FIELDS.map(([field, name, hint]) => (
        <p key={field}>
          <label htmlFor={`${id}-${field}`}>{name}</label>{' '}
          <input
            id={`${id}-${field}`}
            value={policy[field]}
            disabled={isLocked}
            autoComplete="off"
            spellCheck={false}
            aria-describedby={`${id}-${field}-hint`}
            onChange={({ target }) => change({ ...draft, policy: { ...policy, [field]: target.value } })}
          />{' '}
          <span id={`${id}-${field}-hint`} className="quiet">
            {hint}
          </span>
        </p>
      ))}
    </fieldset>
  );
}

import { useId } from 'react';
import { type DraftLayer, FIELD_NAMES, LAYER_FIELDS } from './draft.ts';

interface LayerFieldsProps {
  title: string;
  layer: DraftLayer;
  isLocked: boolean;
  /** The additional inventory has no playbook. */
  hasPlaybook: boolean;
  change(layer: DraftLayer): void;
  /** Another place; absent where there is none to go to. */
  up?: (() => void) | undefined;
  down?: (() => void) | undefined;
  remove(): void;
}

/** The words of one layer. */
export function LayerFields({ title, layer, isLocked, hasPlaybook, change, up, down, remove }: LayerFieldsProps) {
  const id = useId();
  const fields = LAYER_FIELDS.filter((field) => hasPlaybook || field !== 'playbook');
  return (
    <fieldset className="layer" aria-label={title}>
      <h3>{title}</h3>
      <div className="fields">
        {fields.map((field) => (
          <span key={field}>
            <label htmlFor={`${id}-${field}`}>{FIELD_NAMES[field]}</label>
            <input
              id={`${id}-${field}`}
              value={layer[field]}
              disabled={isLocked}
              spellCheck={false}
              autoComplete="off"
              onChange={({ target }) => change({ ...layer, [field]: target.value })}
            />
          </span>
        ))}
      </div>
      {layer.resolved !== '' && layer.branch !== '' && (
        <p className="quiet">
          The branch was <code>{layer.resolved}</code> when this was written; saving asks for it anew.
        </p>
      )}
      {!isLocked && (
        <div className="buttons">
          {hasPlaybook && (
            <>
              <button type="button" disabled={up === undefined} onClick={up} aria-label={`Move up: ${title}`}>
                Move up
              </button>
              <button type="button" disabled={down === undefined} onClick={down} aria-label={`Move down: ${title}`}>
                Move down
              </button>
            </>
          )}
          <button type="button" onClick={remove} aria-label={`Remove: ${title}`}>
            Remove
          </button>
        </div>
      )}
    </fieldset>
  );
}

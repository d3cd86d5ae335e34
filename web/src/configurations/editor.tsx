import { useBlocker } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { actingRefusal } from '../access/may.ts';
import { useMe } from '../access/me.ts';
import { useConnection } from '../shared/live/use-live.ts';
import { BothVersions } from './both-versions-table.tsx';
import { asksTheSame, bodyOf, type Draft, draftOf, emptyDraft, type Stored } from './draft.ts';
import { DraftFields } from './draft-fields.tsx';
import { SaveAction } from './save-action.tsx';

interface EditorProps {
  /** What stands in the database as the page knows it; null: a new configuration is written. */
  stored: Stored | null;
  /** Whether it was deleted meanwhile: saving makes it again. */
  isGone?: boolean;
}

/** What is edited, and the version that the edit began with. */
interface Edit {
  base: Stored | null;
  draft: Draft;
}

const beginOf = (stored: Stored | null): Edit => ({
  base: stored,
  draft: stored === null ? emptyDraft() : draftOf(stored.record),
});

/** Edits a configuration. What somebody else writes meanwhile never replaces what is not saved: both are shown then. */
export function Editor({ stored, isGone = false }: EditorProps) {
  const { data: me } = useMe();
  const { state } = useConnection();
  const [edit, setEdit] = useState(() => beginOf(stored));
  const [name, setName] = useState(stored?.record.name ?? '');
  const { base, draft } = edit;
  const begun = beginOf(base).draft;
  const isDirty = !asksTheSame(draft, begun) || (base === null && name !== '');
  const isMet = stored !== null && base !== null && stored.tag !== base.tag;
  // Without an edit the page shows what is stored.
  if (isMet && !isDirty) setEdit(beginOf(stored));
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isDirty && current.pathname !== next.pathname && !window.confirm('What you have written is not saved. Leave it?'),
    enableBeforeUnload: isDirty,
  });

  const may = actingRefusal(me, state);
  const isReader = me?.role === 'reader';
  const written = bodyOf(draft);
  const refusal =
    may ??
    (isMet && isDirty ? 'Somebody else has written it meanwhile: choose a version' : null) ??
    (name === '' ? 'It has no name yet' : null) ??
    ('mistake' in written ? written.mistake : null);
  return (
    <form className="editor" aria-label="Configuration" onSubmit={(event) => event.preventDefault()}>
      {isReader && <p className="quiet">Your role reader may read this, not change it.</p>}
      <NameField name={name} isFixed={base !== null || isReader} change={setName} />
      {isMet && isDirty && (
        <BothVersions
          mine={draft}
          stored={stored}
          keepMine={() => setEdit({ base: stored, draft })}
          takeStored={() => setEdit(beginOf(stored))}
        />
      )}
      <DraftFields draft={draft} isLocked={isReader} change={(next) => setEdit({ base, draft: next })} />
      <div className="buttons">
        <SaveAction
          action="Save"
          name={name}
          body={'body' in written ? written.body : { layers: [] }}
          replaced={isGone ? null : base}
          refusal={refusal}
          done={(written) => setEdit(beginOf(written))}
        />
        {isDirty && base !== null && (
          <button type="button" onClick={() => setEdit(beginOf(stored))}>
            Discard
          </button>
        )}
        {isDirty && <span className="quiet">not saved</span>}
      </div>
    </form>
  );
}

function NameField({ name, isFixed, change }: { name: string; isFixed: boolean; change(name: string): void }) {
  const id = useId();
  return (
    <p>
      <label htmlFor={id}>Name</label>{' '}
      <input
        id={id}
        value={name}
        readOnly={isFixed}
        maxLength={60}
        spellCheck={false}
        autoComplete="off"
        onChange={({ target }) => change(target.value)}
      />
    </p>
  );
}

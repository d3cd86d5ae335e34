import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { Refusal } from '../shared/api-call.ts';
import { useSlash } from '../shared/ui/keys.ts';
import { shownText } from '../shared/ui/shown-text.ts';
import { useConfigurationNames } from './configuration-names.ts';
import { COMPONENT_STATUSES, type ComponentFilters, filtersOf, inputPlace } from './search.ts';

const TEXTS = [
  { name: 'text', label: 'Filter', type: 'search', hint: 'part of the id' },
  { name: 'hosts', label: 'Hosts', type: 'text', hint: 'n[1-4],!n3 or @role=compute' },
  { name: 'tags', label: 'Tags', type: 'text', hint: 'role=compute' },
] as const;

/** What of the components is shown. Enter applies what is typed; `refused` is what the API said of it. */
export function ComponentFilterBar({ search, refused }: { search: ComponentFilters; refused: unknown }) {
  const navigate = useNavigate({ from: '/components' });
  const id = useId();
  const filter = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(() => typedOf(search));
  const [applied, setApplied] = useState(search);
  // The address changes by other ways too, as by the browser's back.
  if (JSON.stringify(applied) !== JSON.stringify(search)) {
    setApplied(search);
    setTyped(typedOf(search));
  }
  const go = (change: ComponentFilters) =>
    void navigate({ search: filtersOf({ ...search, ...textsOf(typed), ...change }) });
  const apply = (event: FormEvent) => {
    event.preventDefault();
    go({});
  };
  const configurations = useConfigurationNames(search.config_name);
  const mistake = hostlistMistake(refused);
  useSlash(filter);
  useCaret(`${id}-hosts`, mistake?.position ?? null, search.hosts ?? '');
  return (
    <form className="filters" onSubmit={apply}>
      {TEXTS.map(({ name, label, type, hint }) => (
        <span key={name}>
          <label htmlFor={`${id}-${name}`}>{label}</label>{' '}
          <input
            id={`${id}-${name}`}
            ref={name === 'text' ? filter : undefined}
            type={type}
            placeholder={hint}
            spellCheck={false}
            autoComplete="off"
            value={typed[name]}
            aria-invalid={(name === 'hosts' && mistake !== null) || undefined}
            aria-describedby={name === 'hosts' && mistake !== null ? `${id}-mistake` : undefined}
            onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
          />
        </span>
      ))}
      <span>
        <label htmlFor={`${id}-status`}>Status</label>{' '}
        <select
          id={`${id}-status`}
          value={search.status ?? ''}
          onChange={({ target }) => go(ofStatus(COMPONENT_STATUSES.find((word) => word === target.value)))}
        >
          <option value="">any</option>
          {COMPONENT_STATUSES.map((word) => (
            <option key={word}>{word}</option>
          ))}
        </select>
      </span>
      <span>
        <label htmlFor={`${id}-enabled`}>Enabled</label>{' '}
        <select
          id={`${id}-enabled`}
          value={search.enabled === undefined ? '' : String(search.enabled)}
          onChange={({ target: { value } }) => go({ enabled: value === '' ? undefined : value === 'true' })}
        >
          <option value="">any</option>
          <option value="true">enabled</option>
          <option value="false">disabled</option>
        </select>
      </span>
      <span>
        <label htmlFor={`${id}-configuration`}>Configuration</label>{' '}
        <select
          id={`${id}-configuration`}
          value={search.config_name ?? ''}
          onChange={({ target: { value } }) => go({ config_name: value === '' ? undefined : value })}
        >
          <option value="">any</option>
          {configurations.map((name) => (
            <option key={name} value={name}>
              {shownText(name)}
            </option>
          ))}
        </select>
      </span>
      {search.failure !== undefined && (
        <span>
          Failed with {search.failure}{' '}
          <button type="button" onClick={() => go({ failure: undefined })}>
            Any failure
          </button>
        </span>
      )}
      <button type="submit">Apply</button>
      {mistake !== null && (
        <p role="alert" id={`${id}-mistake`}>
          Hosts, position {mistake.position}: {shownText(mistake.message)}
        </p>
      )}
    </form>
  );
}

/** A component with another status than `failed` has no failure: that filter would leave nothing. */
function ofStatus(status: ComponentFilters['status']): ComponentFilters {
  return status === undefined || status === 'failed' ? { status } : { status, failure: undefined };
}

type Typed = Record<(typeof TEXTS)[number]['name'], string>;

const typedOf = ({ text = '', hosts = '', tags = '' }: ComponentFilters): Typed => ({ text, hosts, tags });

function textsOf({ text, hosts, tags }: Typed): ComponentFilters {
  return { text: text || undefined, hosts: hosts.trim() || undefined, tags: tags.trim() || undefined };
}

/** Returns the mistake of the hostlist; null where the refusal is of something else. */
export function hostlistMistake(error: unknown): { position: number; message: string } | null {
  if (!(error instanceof Refusal) || !['bad_hostlist', 'hostlist_too_large'].includes(error.code)) return null;
  return { position: error.position ?? 0, message: error.message };
}

/** Puts the caret to the mistake, once for each. */
function useCaret(id: string, position: number | null, text: string): void {
  useEffect(() => {
    const input = document.getElementById(id);
    if (position === null || !(input instanceof HTMLInputElement)) return;
    const place = inputPlace(text, position);
    input.focus();
    input.setSelectionRange(place, place);
  }, [id, position, text]);
}

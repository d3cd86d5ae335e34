import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react';
import { useSlash } from '../ui/keys.ts';
import { shownText } from '../ui/shown-text.ts';
import type { ListFilter, ListValues } from './filters.ts';

interface FilterBarProps {
  filters: readonly ListFilter[];
  search: ListValues;
  /** Buttons behind the filters. */
  beside?: ReactNode;
}

type Typed = Readonly<Record<string, string>>;

/** The filters of a list. Enter applies what is typed, a choice applies at once; each begins at the first page. */
export function FilterBar({ filters, search, beside }: FilterBarProps) {
  const navigate = useNavigate();
  const id = useId();
  const first = useRef<HTMLInputElement>(null);
  const texts = filters.filter(({ kind }) => kind === 'text').map(({ name }) => name);
  const typedOf = (): Typed => Object.fromEntries(texts.map((name) => [name, String(search[name] ?? '')]));
  const [typed, setTyped] = useState(typedOf);
  const [applied, setApplied] = useState(typedOf);
  // The address changes by other ways too, as by the browser's back.
  if (texts.some((name) => applied[name] !== String(search[name] ?? ''))) {
    setApplied(typedOf());
    setTyped(typedOf());
  }
  useSlash(first);
  const go = (change: ListValues) => {
    const words = Object.fromEntries(texts.map((name) => [name, typed[name]?.trim() || undefined]));
    void navigate({ to: '.', search: { ...search, ...words, after_id: undefined, ...change } as never });
  };
  const apply = (event: FormEvent) => {
    event.preventDefault();
    go({});
  };
  if (filters.every(({ kind }) => kind === 'silent')) return beside === undefined ? null : <p>{beside}</p>;
  return (
    <form className="filters" onSubmit={apply}>
      {filters.map((filter) => {
        if (filter.kind === 'silent') return null;
        const { name } = filter;
        return (
          <span key={name}>
            <label htmlFor={`${id}-${name}`}>{filter.label}</label>{' '}
            {filter.kind === 'text' && (
              <input
                id={`${id}-${name}`}
                ref={name === texts[0] ? first : undefined}
                type={filter.label === 'Filter' ? 'search' : 'text'}
                placeholder={filter.hint}
                spellCheck={false}
                autoComplete="off"
                value={typed[name] ?? ''}
                onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
              />
            )}
            {filter.kind === 'choice' && (
              <select
                id={`${id}-${name}`}
                value={String(search[name] ?? '')}
                onChange={({ target }) => go({ [name]: filter.words.find((word) => word === target.value) })}
              >
                <option value="">any</option>
                {filter.words.map((word) => (
                  <option key={word} value={word}>
                    {shownText(word)}
                  </option>
                ))}
              </select>
            )}
            {filter.kind === 'either' && (
              <select
                id={`${id}-${name}`}
                value={String(search[name] ?? '')}
                onChange={({ target: { value } }) => go({ [name]: value === '' ? undefined : value === 'true' })}
              >
                <option value="">any</option>
                <option value="true">{filter.yes}</option>
                <option value="false">{filter.no}</option>
              </select>
            )}
            {filter.kind === 'switch' && (
              <input
                id={`${id}-${name}`}
                type="checkbox"
                checked={search[name] === true}
                onChange={({ target }) => go({ [name]: target.checked || undefined })}
              />
            )}
          </span>
        );
      })}
      {texts.length > 0 && <button type="submit">Apply</button>}
      {beside}
    </form>
  );
}

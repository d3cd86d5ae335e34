import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { DryRunAnswer } from '../../../../domain/service/dry-run-schema.ts';
import { callApi, Refusal } from '../api-call.ts';
import { type Effect, effectOf, type RehearsedRequest } from '../rehearsal.ts';
import { Failure } from './failure.tsx';
import { shownText } from './shown-text.ts';

/** What is typed is asked of the API after so long, ms. */
const SETTLED_MS = 400;

export interface Rehearsal {
  /** Undefined while it is not known, or where there is none. */
  effect: Effect | undefined;
  /** Whether the API has no dry run of the request. */
  isUnsupported: boolean;
  isPending: boolean;
  error: unknown;
  retry(): void;
}

/** Asks what a request would change; null: there is no request yet. What is shown is never of another request. */
export function useRehearsal(request: RehearsedRequest | null): Rehearsal {
  const text = JSON.stringify(request);
  const [asked, setAsked] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const read = useQuery({
    queryKey: ['dry-run', asked],
    queryFn: async ({ signal }) =>
      effectOf(await callApi<DryRunAnswer>('/dry-run', { method: 'POST', body: JSON.parse(asked), signal })),
    enabled: asked !== 'null',
    // A dialog that is opened again asks again.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isCurrent = asked === text && request !== null;
  const error = isCurrent ? read.error : null;
  const isUnsupported = error instanceof Refusal && error.code === 'rehearsal_unsupported';
  return {
    effect: isCurrent ? read.data : undefined,
    isUnsupported,
    isPending: request !== null && (!isCurrent || read.isFetching),
    error: isUnsupported ? null : error,
    retry: () => void read.refetch(),
  };
}

/** What a dry run found: how many records change, and the first of them. */
export function EffectText({ rehearsal }: { rehearsal: Rehearsal }) {
  const { effect, error, isPending, isUnsupported, retry } = rehearsal;
  if (isPending) return <p aria-busy="true">The effect is read.</p>;
  if (isUnsupported) return <p>There is no dry run of this.</p>;
  if (error !== null) return <Failure error={error} retry={retry} />;
  if (effect === undefined) return <p>Fill in what is to be done.</p>;
  const { changed, names, verb, unchanged, vanished, becomes, hosts, warnings } = effect;
  return (
    <>
      <p>
        {changed} would {verb}
        {names.length > 0 && `: ${names.map(shownText).join(', ')}`}
        {changed > names.length && names.length > 0 && ` and ${changed - names.length} others`}.
        {unchanged > 0 && ` So already: ${unchanged}.`}
        {vanished > 0 && ` Gone meanwhile: ${vanished}.`}
      </p>
      {hosts !== null && (
        <p>
          {hosts.unknown === null
            ? `Hosts: ${hosts.count} (${hosts.names.map(shownText).join(', ')}${hosts.count > hosts.names.length ? ' and others' : ''}).`
            : `Its hosts are not known: ${shownText(hosts.unknown)}.`}
        </p>
      )}
      {becomes.length > 0 && (
        <ul>
          {becomes.map(({ from, to, count }) => (
            <li key={`${from} ${to}`}>
              {from ?? 'new'} becomes {to ?? 'deleted'}: {count}
            </li>
          ))}
        </ul>
      )}
      {warnings.map((warning) => (
        <p key={warning} className="warning">
          Warning: {shownText(warning)}
        </p>
      ))}
    </>
  );
}

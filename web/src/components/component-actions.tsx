import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useId, useState } from 'react';
import type { ActionAnswer } from '../../../domain/components/selection-schema.ts';
import { actingRefusal } from '../access/may.ts';
import { useMe } from '../access/me.ts';
import { apiBase, callApi, writeHeaders } from '../shared/api-call.ts';
import { useConnection } from '../shared/live/use-live.ts';
import { Action, type ActionRequest } from '../shared/ui/action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { actionCommand, actionCurl } from './commands.ts';
import { useConfigurationNames } from './configuration-names.ts';
import { RunSession } from './run-session.tsx';
import type { ComponentFilters } from './search.ts';
import {
  ACTIONS,
  type ActionName,
  type Arguments,
  runRefusal,
  type Selected,
  selectedCount,
  selectionOf,
  tagsOf,
} from './selected.ts';

const PATH = '/components/actions';
/** Names that an answer shows at most. */
const NAMED = 20;

interface ComponentActionsProps {
  selected: Selected;
  /** What all that match means. */
  filters: ComponentFilters;
  /** The selected ones are gone. */
  deleted(): void;
}

/** What can be done to the selected components, with its effect shown before. */
export function ComponentActions({ selected, filters, deleted }: ComponentActionsProps) {
  const { data: me } = useMe();
  const { state } = useConnection();
  const refusal = actingRefusal(me, state) ?? (selectedCount(selected) === 0 ? 'Select components first' : null);
  const one = (name: ActionName) => ({ name, refusal, selected, filters });
  return (
    <section aria-label="Actions" className="buttons">
      <RunSession selected={selected} refusal={refusal ?? runRefusal(selected)} />
      <SetConfiguration {...one('Set desired configuration')} />
      <OneAction {...one('Enable')} args={null} />
      <OneAction {...one('Disable')} args={null} />
      <OneAction {...one('Clear state')} args={null} />
      <OneAction {...one('Reset errors')} args={null} />
      <SetTags {...one('Set tags')} />
      <OneAction {...one('Delete')} args={null} done={deleted} />
      {refusal !== null && <span className="quiet">{refusal}</span>}
    </section>
  );
}

interface OneActionProps {
  name: ActionName;
  refusal: string | null;
  selected: Selected;
  filters: ComponentFilters;
  /** Undefined while the inputs do not say it; null where nothing is needed. */
  args: Arguments | null | undefined;
  fields?: ReactNode;
  done?(): void;
}

function OneAction({ name, refusal, selected, filters, args, fields, done }: OneActionProps) {
  const client = useQueryClient();
  const action = ACTIONS[name];
  const body = { action, selection: selectionOf(selected), ...(args ? { args } : {}) };
  const told = (reason: string) => ({ action, args: args ?? null, selected, filters, reason });
  const send = async (request: ActionRequest) => {
    const answer = await callApi<ActionAnswer>(PATH, { method: 'POST', body, headers: writeHeaders(request) });
    await client.invalidateQueries({ queryKey: ['components'] });
    await client.invalidateQueries({ queryKey: ['fleet'] });
    done?.();
    return <Done answer={answer} />;
  };
  return (
    <Action
      name={name}
      refusal={refusal}
      isTold
      fields={fields}
      request={args === undefined ? null : { method: 'POST', path: `/api/v1${PATH}`, body }}
      send={send}
      cli={(reason) => actionCommand(told(reason))}
      curl={(reason) => actionCurl(`${apiBase()}${PATH}`, told(reason))}
    />
  );
}

function Done({ answer: { changed, unchanged, vanished, warnings } }: { answer: ActionAnswer }) {
  return (
    <>
      <p>
        {changed} changed, {unchanged} so already. <Link to="/components">All components</Link>
      </p>
      {vanished.length > 0 && (
        <p>
          {vanished.length} gone meanwhile: {vanished.slice(0, NAMED).map(shownText).join(', ')}
          {vanished.length > NAMED && ' and others'}
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning}>Warning: {shownText(warning)}</p>
      ))}
    </>
  );
}

type WithoutInput = Omit<OneActionProps, 'args' | 'fields'>;

function SetConfiguration(props: WithoutInput) {
  const id = useId();
  /** Null: nothing is chosen yet. Empty: none is to be desired. */
  const [chosen, setChosen] = useState<string | null>(null);
  const names = useConfigurationNames(chosen ?? undefined);
  return (
    <OneAction
      {...props}
      args={chosen === null ? undefined : { desired_config: chosen }}
      fields={
        <p>
          <label htmlFor={id}>Configuration</label>{' '}
          <select
            id={id}
            value={chosen === null ? 'unchosen' : `name ${chosen}`}
            onChange={({ target: { value } }) => setChosen(value.slice('name '.length))}
          >
            {chosen === null && <option value="unchosen">choose</option>}
            {names.map((name) => (
              <option key={name} value={`name ${name}`}>
                {shownText(name)}
              </option>
            ))}
            <option value="name ">none</option>
          </select>
        </p>
      }
    />
  );
}

function SetTags(props: WithoutInput) {
  const id = useId();
  const [text, setText] = useState('');
  const tags = tagsOf(text);
  return (
    <OneAction
      {...props}
      args={tags === null ? undefined : { tags }}
      fields={
        <p>
          <label htmlFor={id}>Tags</label>{' '}
          <input
            id={id}
            value={text}
            spellCheck={false}
            autoComplete="off"
            aria-describedby={`${id}-form`}
            aria-invalid={(text.trim() !== '' && tags === null) || undefined}
            onChange={({ target }) => setText(target.value)}
          />{' '}
          <span id={`${id}-form`} className="quiet">
            name=value with commas between; name= takes the tag away
          </span>
        </p>
      }
    />
  );
}

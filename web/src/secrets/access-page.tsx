import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import type { TokenView } from '../../../domain/access/schema.ts';
import type { SecretUse } from '../../../domain/secrets/secret-uses.ts';
import { CreateToken } from '../access/create-token.tsx';
import { readingRefusal } from '../access/may.ts';
import { useMe } from '../access/me.ts';
import { useActingRefusal } from '../access/use-acting.ts';
import { callApi, recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { useLive } from '../shared/live/use-live.ts';
import { Moment } from '../shared/ui/moment.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { PostAction } from '../shared/ui/post-action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';

interface TokenPageAnswer {
  tokens: TokenView[];
  next: { after_id: string } | null;
}

/** Who may what? */
export function AccessPage() {
  const { dropped, ...search } = useSearch({ from: '/access' });
  const { data: me } = useMe();
  const refusal = readingRefusal(me, 'admin');
  return (
    <ListPage<TokenPageAnswer, TokenView>
      name="Access"
      search={search}
      dropped={dropped}
      filters={[]}
      api={{ path: '/tokens' }}
      queryKey={['tokens']}
      topic="access"
      refusal={refusal}
      rows={({ tokens }) => tokens}
      keyOf={({ id }) => id}
      columns={TOKEN_COLUMNS}
      order="names"
      empty={{
        narrowed: 'There are no more tokens.',
        all: 'All tokens',
        nothing: (
          <>
            There are no tokens. <code>./muster token create --role operator</code>
          </>
        ),
      }}
      command="./muster token list"
      above={refusal === null && <CreateToken />}
      below={refusal === null && <Secrets shown={search.shown} />}
    />
  );
}

const TOKEN_COLUMNS: readonly ListColumn<TokenView>[] = [
  {
    head: 'Token',
    cell: ({ name }) => (
      <Link to="/audit" search={{ actor: `token/${name}` }} title="What it was used for">
        {shownText(name)}
      </Link>
    ),
  },
  { head: 'Role', cell: ({ role, component }) => shownText(component === null ? role : `${role} of ${component}`) },
  {
    head: 'Ends',
    cell: ({ expired, expires_at: at }) => (expired ? 'expired' : at === null ? 'without end' : <Moment at={at} />),
  },
  { head: 'Last use', cell: ({ last_used_at: at }) => (at === null ? 'never' : <Moment at={at} />) },
  {
    head: 'Made',
    cell: ({ created_at, created_by }) => (
      <>
        <Moment at={created_at} />
        {created_by !== null && ` by ${shownText(created_by)}`}
      </>
    ),
  },
  { head: 'Action', cell: (token) => <Revoke token={token} /> },
];

function Revoke({ token: { name } }: { token: TokenView }) {
  const may = useActingRefusal('admin');
  return (
    <PostAction
      name="Revoke"
      refusal={may}
      isTold
      method="DELETE"
      path={recordPath('tokens', name)}
      record={null}
      effect="What uses it is refused from now on; its sign-ins and open streams end within 10 s."
      done={`Token ${shownText(name)} is revoked.`}
      changes={['tokens']}
      command={`./muster token revoke ${shellWord(name)}`}
    />
  );
}

interface StoredSecret {
  name: string;
  keys: string[];
}

/** Names and keys of secrets; their values are never shown. */
function Secrets({ shown }: { shown: string | undefined }) {
  const read = useQuery({
    queryKey: ['secrets', 'list'],
    queryFn: ({ signal }) => callApi<{ secrets: StoredSecret[] }>('/secrets', { signal }),
  });
  useLive('access', ['secrets', 'list']);
  return (
    <Part title="Secrets" read={read}>
      {({ secrets }) => (
        <>
          <Rows
            name="Secrets"
            rows={secrets}
            keyOf={({ name }) => name}
            none={
              <>
                There are no secrets. <code>./muster secret set NAME KEY=@FILE</code>
              </>
            }
            columns={[
              {
                head: 'Secret',
                cell: ({ name }) => (
                  <Link to="/access" search={{ shown: name }}>
                    {shownText(name)}
                  </Link>
                ),
              },
              { head: 'Keys', cell: ({ keys }) => shownText(keys.join(', ')) },
            ]}
          />
          {shown !== undefined && <SecretDetails key={shown} name={shown} />}
        </>
      )}
    </Part>
  );
}

/** What uses a secret, and the way to remove it. */
function SecretDetails({ name }: { name: string }) {
  const path = recordPath('secrets', name);
  const may = useActingRefusal('admin');
  const read = useQuery({
    queryKey: ['secrets', 'usage', name],
    queryFn: ({ signal }) => callApi<{ uses: SecretUse[] }>(`${path}/usage`, { signal }),
  });
  return (
    <Part title={`Secret ${shownText(name)}`} read={read}>
      {({ uses }) => (
        <>
          <Rows
            name="Used by"
            rows={uses}
            keyOf={(use) => `${use.kind} ${use.name}`}
            columns={[
              { head: 'Name', cell: (use) => shownText(use.name) },
              { head: 'Kind', cell: ({ kind }) => kind },
            ]}
            none="Nothing uses it."
          />
          <div className="buttons">
            <PostAction
              name="Delete"
              refusal={may}
              method="DELETE"
              path={path}
              record={null}
              effect="Its values are lost. A secret that something uses is kept: the command line deletes it with --force."
              done="It is deleted."
              changes={['secrets']}
              command={`./muster secret delete ${shellWord(name)}`}
            />
          </div>
        </>
      )}
    </Part>
  );
}

import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { System, SystemCheck, SystemProcess, SystemQueue } from '../../../domain/service/system-schema.ts';
import type { TrustView } from '../../../domain/trust/trust-schema.ts';
import { SystemOptions } from '../configurations/system-options.tsx';
import { apiBase, callApi } from '../shared/api-call.ts';
import { curlCommand } from '../shared/commands.ts';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { useLive } from '../shared/live/use-live.ts';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { SystemNumbers } from './system-numbers.tsx';
import { webLink } from './web-link.ts';

/** Is Muster itself well? */
export function SystemPage() {
  const system = useQuery({
    queryKey: ['system', 'all'],
    queryFn: ({ signal }) => callApi<System>('/system', { signal }),
  });
  useLive('system', ['system', 'all']);
  const trust = useQuery({
    queryKey: ['system', 'trust'],
    queryFn: ({ signal }) => callApi<TrustView>('/trust', { signal }),
  });
  return (
    <main aria-busy={system.isPending || undefined}>
      <title>System - Muster</title>
      <h1>System</h1>
      <Part title="Checks" read={system}>
        {(read) => <Checks system={read} />}
      </Part>
      <Part title="Processes" read={system}>
        {({ processes }) => (
          <Rows
            name="Processes"
            columns={PROCESS_COLUMNS}
            rows={processes}
            keyOf={({ kind, host }) => `${kind} ${host}`}
            none=""
          />
        )}
      </Part>
      <Part title="Queues" read={system}>
        {({ queues }) => (
          <Rows
            name="Queues"
            columns={QUEUE_COLUMNS}
            rows={queues}
            keyOf={({ name }) => name}
            none="No queue is known."
          />
        )}
      </Part>
      <SystemNumbers read={system} />
      <SystemOptions />
      <Part title="Trust" read={trust}>
        {(read) => <Trust trust={read} />}
      </Part>
      <p className="quiet">This page acts for the whole installation: it names no tenant.</p>
      <p className="buttons">
        <CopyCommand name="Copy as CLI" text="./muster doctor" />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase()}/system`)} />
      </p>
    </main>
  );
}

const CHECK_COLUMNS: readonly ListColumn<SystemCheck>[] = [
  { head: 'Check', cell: ({ name }) => name },
  { head: 'State', cell: ({ ok }) => (ok ? '✓ ok' : '✗ not ok') },
  { head: 'Detail', cell: ({ detail }) => shownText(detail) },
  { head: 'Fix', cell: ({ fix }) => shownText(fix ?? '') },
];

const PROCESS_COLUMNS: readonly ListColumn<SystemProcess>[] = [
  { head: 'Process', cell: ({ kind }) => shownText(kind) },
  { head: 'Host', cell: ({ host }) => shownText(host) },
  { head: 'Version', cell: ({ version }) => (version === null ? 'not known' : shownText(version)) },
  { head: 'Since', cell: ({ since }) => (since === null ? 'not known' : <Moment at={since} />) },
  { head: 'Seen', cell: ({ seen_at: seen }) => <Moment at={seen} /> },
];

const QUEUE_COLUMNS: readonly ListColumn<SystemQueue>[] = [
  { head: 'Queue', cell: ({ name }) => shownText(name) },
  { head: 'Waits', cell: ({ depth }) => depth },
  { head: 'Oldest', cell: ({ depth, oldest_seconds: oldest }) => (depth === 0 ? '' : `${Math.round(oldest)} s`) },
  { head: 'Processes that take from it', cell: ({ pollers }) => pollers ?? '' },
];

function Checks({ system }: { system: System }) {
  const { versions, notices, links, checks } = system;
  return (
    <>
      {notices.map((notice) => (
        <p key={notice} className="warning">
          {shownText(notice)}
        </p>
      ))}
      <Rows
        name="System"
        columns={CHECK_COLUMNS}
        rows={checks}
        keyOf={({ name, detail }) => `${name} ${detail}`}
        none=""
      />
      <dl>
        <dt>Muster</dt>
        <dd>{shownText(versions.muster)}</dd>
        <dt>CFS</dt>
        <dd>{shownText(versions.cfs)}</dd>
        <dt>Temporal</dt>
        <dd>
          <WebLink address={links.temporal_ui}>Temporal&apos;s UI</WebLink>
        </dd>
        <dt>Documents</dt>
        <dd>
          <WebLink address={links.docs}>API documents</WebLink>
        </dd>
      </dl>
      <p>
        The command looks at certificate, token and clock of this machine too: <code>./muster doctor</code>
      </p>
    </>
  );
}

/** A link to another page of the installation, where its address is one of the web. */
function WebLink({ address, children }: { address: string | null; children: ReactNode }) {
  if (address === null) return 'none';
  const href = webLink(address);
  if (href === null) return shownText(address);
  return (
    <a href={href} rel="noopener noreferrer">
      {children}
    </a>
  );
}

function Trust({ trust: { authorities, certificate } }: { trust: TrustView }) {
  return (
    <>
      <dl>
        <dt>Certificate of sessions</dt>
        <dd>{certificate === null ? 'none yet' : shownText(certificate.key_id)}</dd>
        {certificate !== null && (
          <>
            <dt>Its end</dt>
            <dd>{certificate.valid_before === null ? 'none' : <Moment at={certificate.valid_before} />}</dd>
            <dt>Users</dt>
            <dd>{shownText(certificate.principals.join(', '))}</dd>
          </>
        )}
        <dt>Authorities</dt>
        <dd>{authorities.length}</dd>
      </dl>
      <p>
        What hosts are to trust: <a href={`${apiBase()}/trust/ca`}>the public keys of the authorities</a>
      </p>
    </>
  );
}

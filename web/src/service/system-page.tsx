import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { TrustView } from '../../../domain/trust/trust-schema.ts';
import { SystemOptions } from '../configurations/system-options.tsx';
import { apiBase, callApi } from '../shared/api-call.ts';
import { curlCommand } from '../shared/commands.ts';
import { READ_EVERY_MS } from '../shared/list/list-frame.tsx';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { checksOf, type SystemCheck, type SystemStatus, webLink } from './system-status.ts';

/** Is Muster itself well? */
export function SystemPage() {
  const status = useQuery({
    queryKey: ['system', 'status'],
    queryFn: ({ signal }) => callApi<SystemStatus>('/status', { signal }),
    refetchInterval: READ_EVERY_MS,
  });
  const trust = useQuery({
    queryKey: ['system', 'trust'],
    queryFn: ({ signal }) => callApi<TrustView>('/trust', { signal }),
  });
  return (
    <main aria-busy={status.isPending || undefined}>
      <title>System - Muster</title>
      <h1>System</h1>
      <Part title="Checks" read={status}>
        {(read) => <Checks status={read} />}
      </Part>
      <SystemOptions />
      <Part title="Trust" read={trust}>
        {(read) => <Trust trust={read} />}
      </Part>
      <p className="quiet">This page acts for the whole installation: it names no tenant.</p>
      <p className="buttons">
        <CopyCommand name="Copy as CLI" text="./muster status" />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase()}/status`)} />
      </p>
    </main>
  );
}

const CHECK_COLUMNS: readonly ListColumn<SystemCheck>[] = [
  { head: 'Check', cell: ({ name }) => name },
  { head: 'State', cell: ({ ok }) => (ok ? '✓ ok' : '✗ not ok') },
  { head: 'Detail', cell: ({ detail }) => shownText(detail) },
];

function Checks({ status }: { status: SystemStatus }) {
  const { versions, notices, links } = status;
  return (
    <>
      {notices.map((notice) => (
        <p key={notice} className="warning">
          {shownText(notice)}
        </p>
      ))}
      <Rows name="System" columns={CHECK_COLUMNS} rows={checksOf(status)} keyOf={({ name }) => name} none="" />
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

import type { UseQueryResult } from '@tanstack/react-query';
import type { System } from '../../../domain/service/system-schema.ts';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { sizeText } from '../shared/size-text.ts';
import { Part, Rows } from '../shared/ui/part.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { connectionsText, gaugeRows } from './system-text.ts';

/** How large and how full what Muster stands on is, and its gauges. */
export function SystemNumbers({ read }: { read: UseQueryResult<System> }) {
  return (
    <>
      <Part title="Database" read={read}>
        {({ database }) => <Database database={database} />}
      </Part>
      <Part title="Disk" read={read}>
        {({ disk }) => <Disk disk={disk} />}
      </Part>
      <Part title="Gauges" read={read}>
        {({ gauges }) => (
          <Rows
            name="Gauges"
            columns={GAUGE_COLUMNS}
            rows={gaugeRows(gauges)}
            keyOf={([name]) => name}
            none="The database does not say them now."
          />
        )}
      </Part>
    </>
  );
}

const GAUGE_COLUMNS: readonly ListColumn<[string, string]>[] = [
  { head: 'Gauge', cell: ([name]) => name },
  { head: 'Value', cell: ([, text]) => text },
];

function Database({ database }: Pick<System, 'database'>) {
  const { ok, reason, size, schema } = database;
  return (
    <dl>
      <dt>State</dt>
      <dd>{ok ? '✓ ok' : `✗ not ok${reason === null ? '' : `: ${shownText(reason)}`}`}</dd>
      <dt>Size</dt>
      <dd>{sizeText(size) || 'not known'}</dd>
      <dt>Connections</dt>
      <dd>{connectionsText(database)}</dd>
      <dt>Newest migration</dt>
      <dd>{schema === null ? 'not known' : shownText(schema)}</dd>
    </dl>
  );
}

function Disk({ disk }: Pick<System, 'disk'>) {
  if (disk === null) return <p>The disk of this process cannot be read.</p>;
  return (
    <dl>
      <dt>Path</dt>
      <dd>{shownText(disk.path)}</dd>
      <dt>Free</dt>
      <dd>
        {sizeText(disk.free)} of {sizeText(disk.size)}
        {disk.low && <span className="warning">: little is left</span>}
      </dd>
    </dl>
  );
}

import { useQuery } from '@tanstack/react-query';
import type { Throughput } from '../../../domain/fleet/grid-schema.ts';
import { callApi } from '../shared/api-call.ts';
import { useLive } from '../shared/live/use-live.ts';
import { CopyView } from '../shared/ui/copy-view.tsx';
import { Failure } from '../shared/ui/failure.tsx';

/** Height of the bars, and width of one with its gap, px. */
const [HEIGHT, STEP] = [80, 14];

const PATH = '/fleet/throughput';

/** What hosts took in the last 24 hours: bars, and the numbers in a table. */
export function ThroughputPanel() {
  const read = useQuery({
    queryKey: ['fleet-throughput'],
    queryFn: ({ signal }) => callApi<Throughput>(PATH, { signal }),
  });
  useLive('throughput', ['fleet-throughput']);
  return (
    <section aria-label="Throughput" aria-busy={read.isPending || undefined}>
      <h2>Throughput</h2>
      {read.isError && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data && <Hours throughput={read.data} />}
      <CopyView command={`./muster api GET /api/v1${PATH}`} path={PATH} />
    </section>
  );
}

function Hours({ throughput: { hours } }: { throughput: Throughput }) {
  const sum = (of: 'configured' | 'failed') => hours.reduce((total, hour) => total + hour[of], 0);
  const most = Math.max(1, ...hours.map(({ configured, failed }) => configured + failed));
  const px = (count: number) => (count / most) * HEIGHT;
  return (
    <>
      <p>
        In 24 hours hosts took {sum('configured')} layers; {sum('failed')} failed.
      </p>
      <svg className="bars" width={hours.length * STEP} height={HEIGHT} aria-hidden="true">
        {hours.map(({ hour, configured, failed }, index) => (
          <g key={hour}>
            <rect
              className="configured"
              x={index * STEP}
              y={HEIGHT - px(configured)}
              width={STEP - 2}
              height={px(configured)}
            />
            <rect
              className="failed"
              x={index * STEP}
              y={HEIGHT - px(configured) - px(failed)}
              width={STEP - 2}
              height={px(failed)}
            />
          </g>
        ))}
      </svg>
      <details>
        <summary>By hour</summary>
        <table aria-label="By hour">
          <thead>
            <tr>
              <th scope="col">Hour</th>
              <th scope="col">configured</th>
              <th scope="col">failed</th>
            </tr>
          </thead>
          <tbody>
            {hours.toReversed().map(({ hour, configured, failed }) => (
              <tr key={hour}>
                <th scope="row">
                  <time dateTime={hour}>{hourText(hour)}</time>
                </th>
                <td>{configured}</td>
                <td>{failed}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}

function hourText(hour: string): string {
  return new Date(hour).toLocaleString('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit' });
}

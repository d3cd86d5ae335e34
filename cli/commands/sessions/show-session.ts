import type { SessionDetail } from '../../../domain/sessions/detail-schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import type { CliContext } from '../../context.ts';
import { failureLine } from '../../follow/host-table.ts';
import type { OutputOptions } from '../../options.ts';
import { cell, tagCell, type View } from '../../output/columns.ts';
import { layerPlace } from '../../output/layers.ts';
import { someOf } from '../../output/names.ts';
import { renderOne, writeData } from '../../output/render.ts';
import { fieldList, table } from '../../output/table.ts';
import { timeText } from '../../output/times.ts';
import { sessionView } from './session-view.ts';

/** Reads one session with everything Muster knows of it, and writes it. */
export async function showSession(
  context: CliContext,
  api: ApiClient,
  name: string,
  options: OutputOptions,
): Promise<void> {
  const session = await api.json<SessionDetail>({ method: 'GET', path: `/api/v1/sessions/${segment(name)}` });
  const view: View<SessionDetail> = sessionView(context.now());
  writeData(context, await renderOne(view, session, options.output, sessionDetails));
}

/** A session for people: what it runs, what it does now and why, its layers and where to look further. */
export function sessionDetails(session: SessionDetail, wide: boolean): string {
  const { session: status } = session.status;
  const { counts, hosts, links } = session;
  const fields = fieldList([
    ['name', session.name],
    ['id', session.id],
    ['configuration', session.configuration.name],
    ['status', status.status],
    ['succeeded', status.succeeded],
    ['phase', session.phase],
    ['message', status.message],
    ['reason', cell(session.reason?.code)],
    ...(session.failures ?? []).map((failure): [string, string] => ['failed', failureLine(failure)]),
    ['again', retryCommand(session)],
    ['place in the queue', cell(session.queue?.place)],
    ['started', zoned(status.start_time)],
    ['ended', zoned(status.completion_time)],
    ['limit', cell(session.ansible.limit)],
    ['mode', checkMode(session)],
    ['target', session.target.definition],
    ['pass-through', cell(session.ansible.passthrough)],
    ['tags', tagCell(session.tags)],
    ['cancelled', cell(session.cancel?.reason)],
    ['retry of', cell(session.retry_of?.name)],
    ['retried by', someOf(session.retried_by.map((retry) => retry.name))],
    ['hosts', hostCounts(hosts)],
    ['not in the inventory', someOf(session.absent_hosts ?? [])],
    ['tasks', `${counts.ok} ok, ${counts.changed} changed, ${counts.failed} failed, ${counts.unreachable} unreachable`],
    ...jobFields(session.job),
    ['workflow', cell(links.temporal)],
  ]);
  const images = session.images.length === 0 ? '' : `\n${imageTable(session.images)}`;
  return `${fields}\n${layerTable(session, wide)}${images}`;
}

/** A time of CFS with its zone, which it leaves out. */
const zoned = (time: string | null | undefined): string => timeText(cell(time), 'iso', 0);

/** The command that runs it again for the hosts that are not well; nothing where there is none, or where that was done. */
function retryCommand({ name, status, hosts, retried_by }: SessionDetail): string {
  const isOver = status.session.status === 'complete';
  const isWell = hosts.failed + hosts.incomplete + (hosts.not_reached ?? 0) === 0;
  return isOver && !isWell && retried_by.length === 0 ? `./muster session retry ${name} --hosts failed` : '';
}

function hostCounts({ applied, failed, incomplete, not_reached }: SessionDetail['hosts']): string {
  const unreached = not_reached ? `, ${not_reached} not reached` : '';
  return `${applied} applied, ${failed} failed, ${incomplete} incomplete${unreached}`;
}

/** What a session's Job on a cluster came to; nothing of a session that runs elsewhere. */
function jobFields(job: SessionDetail['job'] | undefined): [string, string][] {
  if (!job) return [];
  const codes = Object.entries(job.exit_codes).map(([name, code]) => `${name} ${code ?? 'not ended'}`);
  return [
    ['Job', job.name],
    ['Job waits since', cell(job.waiting_since)],
    ['Job exit codes', codes.join(', ')],
    ['Job ended by', cell(job.trouble && `${job.trouble.message} (${job.trouble.code})`)],
    ['Job not verified', cell(job.unverified)],
  ];
}

function checkMode({ muster }: SessionDetail): string {
  if (!muster?.check) return '';
  return muster.reconfigure ? 'check, reconfigures what drifted' : 'check';
}

type SnapshotLayer = SessionDetail['snapshot']['layers'][number];

/** The selected layers with how their last run ended. */
function layerTable({ snapshot, attempts }: SessionDetail, wide: boolean): string {
  const lastRun = (layer: SnapshotLayer) => attempts.findLast((attempt) => attempt.layer === layer.index);
  return table<SnapshotLayer>(
    [
      { title: 'LAYER', value: (layer) => layerPlace(layer.index, snapshot.layers) },
      { title: 'NAME', value: (layer) => cell(layer.name) },
      { title: 'PLAYBOOK', value: (layer) => layer.playbook },
      { title: 'COMMIT', value: (layer) => cell(wide ? layer.commit : layer.commit?.slice(0, 12)) },
      { title: 'RUN', value: (layer) => lastRun(layer)?.state ?? '-' },
      { title: 'EXIT', value: (layer) => cell(lastRun(layer)?.exit_code) },
      { title: 'REPOSITORY', value: (layer) => layer.source ?? layer.url },
    ],
    snapshot.layers,
  );
}

/** The images of a session on images, each with what came of it. */
function imageTable(images: SessionDetail['images']): string {
  return table<SessionDetail['images'][number]>(
    [
      { title: 'IMAGE', value: (image) => image.image_id },
      { title: 'NEW IMAGE', value: (image) => cell(image.result_id) },
      { title: 'NAME', value: (image) => image.result_name },
      { title: 'STATE', value: (image) => image.state },
      { title: 'MESSAGE', value: (image) => cell(image.message) },
    ],
    images,
  );
}

import { isErrorCode } from '../../errors.ts';
import type { JobStep, StepReport } from '../job-schema.ts';
import type { Succeeded } from '../schema.ts';
import type { SessionReason } from '../session-reason.ts';
import type { ContainerState, JobView } from './cluster-job.ts';

/** How a session's Job ended, in the words of its record. */
export interface JobOutcome {
  succeeded: Exclude<Succeeded, 'none'>;
  /** Null when it succeeded, and when only the playbooks of its runs failed. */
  code: SessionReason | null;
  message: string;
}

/** The Job's own containers in the order in which they work, with the step that each reports; others were put into its pod by a cluster. */
const CONTAINERS: readonly [string, JobStep][] = [
  ['git-clone', 'clone'],
  ['inventory', 'inventory'],
  ['ansible', 'ansible'],
  ['teardown', 'teardown'],
];

/** Whether nobody knows how it ended: what could tell went with the Job, or with the process that ran the playbook (cfs-flows 1.1). */
export function isLost(code: string | null | undefined): boolean {
  return code === 'job_lost' || code === 'run_lost';
}

/** Whether nothing of the Job will change any more: it ended, is being deleted by whomever, or is not there. */
export function isJobOver({ phase }: JobView): boolean {
  return phase === 'complete' || phase === 'failed' || phase === 'deleting' || phase === 'gone';
}

/**
 * Whether all containers of the Job's own have ended, and one that a cluster put into its pod goes on: a proxy of a service mesh that nobody
 * ends.
 */
export function isLeftRunning({ phase, containers }: JobView): boolean {
  const own = ownOf(containers);
  const hasWorked = own.length > 0 && own.every(({ exitCode }) => exitCode !== null);
  return phase === 'running' && hasWorked && containers.some(({ exitCode }) => exitCode === null);
}

/**
 * The end of a Job: it succeeds only if every container of its own exits 0 (cfs-flows 1.2). First cause first: what Kubernetes says of the
 * pod, then what a step said of itself, then the first container that failed. A deletion, by whomever, is a cancel; a Job that
 * is gone with all it knew is `unknown`.
 */
export function jobOutcome(view: JobView, steps: Partial<Record<JobStep, StepReport>>): JobOutcome {
  const { phase, containers, trouble } = view;
  if (phase === 'complete' || allSucceeded(containers)) return { succeeded: 'true', code: null, message: 'complete' };
  if (phase === 'gone') {
    return { succeeded: 'unknown', code: 'job_lost', message: 'its Job vanished before its result was read' };
  }
  if (phase === 'deleting') return { succeeded: 'false', code: 'job_deleted', message: 'its Job was deleted' };
  if (trouble !== null) return { succeeded: 'false', code: trouble.code, message: trouble.message };
  for (const [container, step] of CONTAINERS) {
    const report = steps[step];
    if (report?.state === 'failed') {
      const code = isErrorCode(report.code) ? report.code : 'runner_failed';
      const message = `${step} failed: ${report.message ?? 'it did not say why'}`;
      return { succeeded: isLost(code) ? 'unknown' : 'false', code, message };
    }
    const found = containers.find(({ name }) => name === container);
    if (found !== undefined && found.exitCode !== null && found.exitCode !== 0) return failedContainer(found);
  }
  const words = [view.reason, view.message].filter((word) => word !== '').join(': ');
  return { succeeded: 'false', code: 'runner_failed', message: `its Job failed${words === '' ? '' : ` (${words})`}` };
}

/** Exit codes by container, null of one that did not end. */
export function exitCodesOf({ containers }: JobView): Record<string, number | null> {
  return Object.fromEntries(containers.map(({ name, exitCode }) => [name, exitCode]));
}

function ownOf(containers: ContainerState[]): ContainerState[] {
  return containers.filter(({ name }) => CONTAINERS.some(([own]) => own === name));
}

function allSucceeded(containers: ContainerState[]): boolean {
  const own = ownOf(containers);
  return own.length > 0 && own.every(({ exitCode }) => exitCode === 0);
}

function failedContainer({ name, exitCode, reason, message: said }: ContainerState): JobOutcome {
  const word = reason === '' || reason === 'Error' ? '' : ` (${reason})`;
  const last = said.trim() === '' ? '' : `: ${said.trim()}`;
  const message = `container ${name} ended with exit status ${exitCode}${word}${last}`;
  return { succeeded: 'false', code: name === 'ansible' ? 'layer_failed' : 'runner_failed', message };
}

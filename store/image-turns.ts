/** The turns that image jobs take on their machine, and the line in which they wait for them: who was made first goes first. */
import { sql } from 'kysely';
import { statusesBefore, type WORKING } from '../domain/images/job-status.ts';
import { placeInLine } from '../domain/images/job-turn.ts';
import type { ShellPorts } from '../domain/images/shell-ports.ts';
import type { Db } from './database.ts';
import { reserveImagePort } from './image-ports.ts';

export interface TurnRequest {
  id: string;
  /** Queue of the machine. */
  queue: string;
  status: (typeof WORKING)[number];
  /** Jobs that may work at once, and that may have an environment at once. */
  limits: { working: number; open: number };
  /** Ports of its shells, one of which a job gets with the turn to be opened; null: not known. */
  ports?: ShellPorts | null;
  now: Date;
  /** Places in line that were kept until then, and no longer, are lost. */
  lapsed: Date;
}

/** Who is in the way of a job. */
export interface OthersFirst {
  /** Jobs that work on the machine now. */
  working: number;
  /** Jobs that are open there, or follow those that are; null for a job that may be open beyond their limit. */
  open: number | null;
  /** Jobs that were made before it and wait for what it waits for. */
  ahead: number;
  /** Whether it waits for a port: none is free. */
  lacksPort: boolean;
  /** Since when it waits. */
  since: Date;
}

/** The counts of `OthersFirst`, as Postgres sends them. */
interface Line {
  working: number;
  open: number;
  /** The same with all that would follow those ahead that have not begun. */
  open_then: number;
  ahead: number;
  /** Of those ahead, how many only need that fewer work. */
  ahead_to_go_on: number;
  /** Of those ahead, how many have a port. */
  ahead_with_port: number;
  has_port: boolean;
  /** Ports that jobs have, or had not long ago. */
  ports_taken: number;
  begun: boolean | null;
  has_turn: boolean | null;
}

/**
 * Takes the turn of a machine for a job and brings it to the status of the work, while there is room that nobody before it in line could
 * take. Jobs of one key and one name of the shell are a set, as those of a session, which is of use to nobody before it is open as a
 * whole. So a set that has begun always goes on, and the limit of open jobs, which counts those of begun sets that are still to begin
 * too, keeps others from beginning. Who waits for that limit alone, or for a port, lets those go first that do not: a port gets free by those that go on.
 *
 * Answers null when the job has the turn, and with it a port; else who is in the way, and the job has its place in line until it should have asked again. A
 * place is lost where nobody asks for it, so that no job waits for one whose workflow is away.
 */
export async function takeImageTurn(db: Db, request: TurnRequest): Promise<OthersFirst | null> {
  const { id, queue, status, limits, ports = null } = request;
  await sql`select pg_advisory_xact_lock(hashtext(${`image-turn/${queue}`}))`.execute(db);
  const line = await lookAtLine(db, request);
  const begins = status === 'fetching_image' && !line.begun;
  const noneFree = ports !== null && line.ports_taken > ports.to - ports.from;
  const needsPort = ports !== null && status === 'fetching_image' && !line.has_port;
  const wouldGo = line.open < limits.open ? line.ahead : line.ahead_to_go_on;
  const firsts = noneFree ? line.ahead_with_port : wouldGo;
  const hasRoom = line.working + firsts < limits.working && (!begins || line.open_then < limits.open);
  const lacksPort = needsPort && noneFree;
  if ((!hasRoom || lacksPort) && !line.has_turn) {
    const ahead = begins ? line.ahead : lacksPort ? wouldGo : firsts;
    const others = { working: line.working, open: begins ? line.open : null, ahead, lacksPort };
    return { ...others, since: await stayInLine(db, request, ahead) };
  }
  // One that has the turn already, and finds none, looks for a port when it is to be opened.
  if (needsPort) await reserveImagePort(db, { ...ports, queue, jobId: id, avoid: [] });
  await db
    .updateTable('image_jobs')
    .set({ queue, working: true, status, message: '', turn_wanted_at: null, place_until: null })
    .where('id', '=', id)
    .where('status', 'in', statusesBefore(status))
    .execute();
  return null;
}

async function lookAtLine(db: Db, { id, queue, lapsed, ports }: TurnRequest): Promise<Line> {
  const { from, to, freeSince } = ports ?? { from: 1, to: 0, freeSince: lapsed };
  const { rows } = await sql<Line>`
    with jobs as (
      select *, jsonb_build_array(request -> 'public_key_id', request #> '{shell,name}') as job_set from image_jobs where not cleaned
    ), ports as (
      select * from image_ports where queue = ${queue}
    ), asking as (
      select * from jobs where id = ${id}
    ), begun as (
      select queue, job_set from jobs where status not in ('creating', 'success', 'error') and deleted_at is null
    ), ahead as (
      select jobs.*, jobs.status = 'creating' and jobs.job_set not in (select job_set from begun) as begins
      from jobs, asking
      where not jobs.working and jobs.deleted_at is null and jobs.status not in ('success', 'error')
        and jobs.place_until > ${lapsed} and (jobs.created_at, jobs.id) < (asking.created_at, asking.id)
        and (jobs.queue = ${queue} or (jobs.queue is null and jobs.store_id = asking.store_id))
    ), others as (
      select *,
        status = 'creating' and deleted_at is null and store_id = (select store_id from asking) as to_begin,
        job_set in (select job_set from begun where queue = ${queue}) as follows,
        job_set in (select job_set from ahead where begins) as would_follow
      from jobs where id <> ${id}
    )
    select
      count(*) filter (where queue = ${queue} and working)::int as working,
      count(*) filter (where case when status <> 'creating' then queue = ${queue} else to_begin and follows end)::int as open,
      count(*) filter (where case when status <> 'creating' then queue = ${queue}
        else to_begin and (follows or would_follow) end)::int as open_then,
      (select count(*) from ahead)::int as ahead,
      (select count(*) from ahead where not begins)::int as ahead_to_go_on,
      (select count(*) from ahead where id in (select job_id from ports where released_at is null))::int as ahead_with_port,
      exists (select from ports where job_id = ${id} and released_at is null) as has_port,
      (select count(*) from ports where port between ${from}::int and ${to}::int
        and (released_at is null or released_at > ${freeSince}))::int as ports_taken,
      (select job_set from asking) in (select job_set from begun) as begun,
      (select working and queue = ${queue} from asking) as has_turn
    from others
  `.execute(db);
  const [line] = rows;
  if (line === undefined) throw new Error('counts without a row');
  return line;
}

/** Answers since when the job waits. What was noted before its user had it is of another wait: a former release forgets none. */
async function stayInLine(db: Db, { id, now }: TurnRequest, ahead: number): Promise<Date> {
  const until = new Date(now.getTime() + placeInLine(ahead).keptSeconds * 1_000);
  const job = await db
    .updateTable('image_jobs')
    .set({
      place_until: until,
      turn_wanted_at: sql<Date>`
        case when turn_wanted_at >= coalesce(waiting_since, turn_wanted_at) then turn_wanted_at else ${now} end`,
    })
    .where('id', '=', id)
    .returning('turn_wanted_at')
    .executeTakeFirst();
  return job?.turn_wanted_at ?? now;
}

/** Keeps the place in line of a job whose machine is not there: when that comes back others are not to go first. */
export async function keepImagePlace(db: Db, id: string, until: Date): Promise<void> {
  await db.updateTable('image_jobs').set({ place_until: until }).where('id', '=', id).execute();
}

/** Gives the turn back. */
export async function endImageTurn(db: Db, id: string): Promise<void> {
  await db.updateTable('image_jobs').set({ working: false }).where('id', '=', id).execute();
}

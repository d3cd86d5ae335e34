/** The turns that image jobs take on their machine, and the line in which they wait for them: who was made first goes first. */
import { sql } from 'kysely';
import { statusesBefore, type WORKING } from '../../domain/images/job-status.ts';
import { placeInLine } from '../../domain/images/job-turn.ts';
import type { PortsLacking, ShellPorts } from '../../domain/images/shell-ports.ts';
import type { Db } from '../connection/database.ts';
import { reserveImagePort } from './shell-ports.ts';

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
  /** The ports that it waits for; null: for none. */
  portsLacking: PortsLacking | null;
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
  /** Of those ahead, how many only need that fewer work, and of these how many need no port or get one now. */
  ahead_to_go_on: number;
  ahead_going_on: number;
  has_port: boolean;
  /** Ports that no job has, or had not long ago. */
  ports_free: number;
  /** Jobs without a port: of its own set, of sets that have begun, of sets ahead that have not, and of the first of these. */
  own_portless: number;
  begun_portless: number;
  ahead_portless: number;
  first_portless: number;
  /** Its place among the jobs of sets that have begun which are to get a port. */
  port_place: number | null;
  begun: boolean | null;
  has_turn: boolean | null;
}

/**
 * Takes the turn of a machine for a job and brings it to the status of the work, while there is room that nobody before it in line could
 * take. Jobs of one key and one name of the shell are a set, as those of a session, which is of use to nobody before it is open as a
 * whole. So a set that has begun always goes on, and the limit of open jobs, which counts those of begun sets that are still to begin
 * too, keeps others from beginning. Who waits for that limit alone, or for a port, lets those go first that do not: a port gets free by those that go on.
 *
 * Two sets that have some of their ports each, and none is left, would wait for each other. So a set begins only while there are ports for all of it,
 * for what begun sets still need, and for those that begin before it. Of begun sets, to which jobs may come later, the one that needs the fewest gets
 * its ports first: when even that cannot get all of them no other could.
 *
 * Answers null when the job has the turn, and with it a port; else who is in the way, and the job has its place in line until it should have asked again. A
 * place is lost where nobody asks for it, so that no job waits for one whose workflow is away.
 */
export async function takeImageTurn(db: Db, request: TurnRequest): Promise<OthersFirst | null> {
  const { id, queue, status, limits, ports = null } = request;
  await sql`select pg_advisory_xact_lock(hashtext(${`image-turn/${queue}`}))`.execute(db);
  const line = await lookAtLine(db, request);
  const begins = status === 'fetching_image' && !line.begun;
  const needsPort = ports !== null && status === 'fetching_image' && !line.has_port;
  const portsLacking = needsPort ? lackingOf(line, { begins, ports }) : null;
  const mayOthersBegin = line.open < limits.open && (ports === null || hasPortsForFirst(line, ports));
  const firsts = line.ahead_going_on + (mayOthersBegin ? line.ahead - line.ahead_to_go_on : 0);
  const hasRoom = line.working + firsts < limits.working && (!begins || line.open_then < limits.open);
  if ((!hasRoom || portsLacking !== null) && !line.has_turn) {
    const ahead = begins ? line.ahead : portsLacking === null ? firsts : Math.max(firsts, line.ahead_to_go_on);
    const others = { working: line.working, open: begins ? line.open : null, ahead, portsLacking };
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

/** The ports that a job which needs one has to wait for; null when it can have one now. */
function lackingOf(line: Line, { begins, ports }: { begins: boolean; ports: ShellPorts }): PortsLacking | null {
  const { ports_free: free } = line;
  const needed = begins
    ? atMostAll(line.own_portless, ports) + line.begun_portless + line.ahead_portless
    : (line.port_place ?? 1);
  return free < needed ? { free, needed } : null;
}

/** Whether the first of those ahead that begin a set has all ports for it: who waits for some keeps nobody from going on. */
function hasPortsForFirst(line: Line, ports: ShellPorts): boolean {
  return line.ports_free >= atMostAll(line.first_portless, ports) + line.begun_portless;
}

/** A set with more jobs than there are ports, of a time when there were more of them, begins when all are free. */
function atMostAll(portless: number, { from, to }: ShellPorts): number {
  return Math.min(portless, to - from + 1);
}

async function lookAtLine(db: Db, { id, queue, status, lapsed, ports }: TurnRequest): Promise<Line> {
  const { from, to, freeSince } = ports ?? { from: 1, to: 0, freeSince: lapsed };
  const opens = status === 'fetching_image';
  const { rows } = await sql<Line>`
    with ports as (
      select * from image_ports where queue = ${queue}
    ), free as (
      select ${to}::int - ${from}::int + 1 - count(*)::int as ports from ports
      where port between ${from}::int and ${to}::int and (released_at is null or released_at > ${freeSince})
    ), jobs as (
      select *, jsonb_build_array(request -> 'public_key_id', request #> '{shell,name}') as job_set from image_jobs where not cleaned
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
    ), portless as (
      select id, status, created_at, place_until, job_set, job_set in (select job_set from begun where queue = ${queue}) as follows
      from jobs
      where ${ports !== null}::boolean and deleted_at is null and store_id = (select store_id from asking)
        and (status in ('creating', 'fetching_image') or (id = ${id} and ${opens}::boolean)) and (queue = ${queue} or queue is null)
        and id not in (select job_id from ports where released_at is null)
    ), to_get_port as (
      select *, count(*) over of_set as set_portless, min(created_at) over of_set as set_created
      from portless where follows window of_set as (partition by job_set)
    ), port_places as (
      select id, row_number() over (order by set_portless, set_created, job_set, created_at, id) as place
      from to_get_port where place_until > ${lapsed} or status = 'fetching_image' or id = ${id}
    )
    select
      count(*) filter (where queue = ${queue} and working)::int as working,
      count(*) filter (where case when status <> 'creating' then queue = ${queue} else to_begin and follows end)::int as open,
      count(*) filter (where case when status <> 'creating' then queue = ${queue}
        else to_begin and (follows or would_follow) end)::int as open_then,
      (select count(*) from ahead)::int as ahead,
      (select count(*) from ahead where not begins)::int as ahead_to_go_on,
      (select count(*) from ahead where not begins
        and id not in (select id from port_places where place > (select ports from free)))::int as ahead_going_on,
      exists (select from ports where job_id = ${id} and released_at is null) as has_port,
      (select ports from free) as ports_free,
      (select count(*) from portless where job_set = (select job_set from asking))::int as own_portless,
      (select count(*) from portless where follows)::int as begun_portless,
      (select count(*) from portless where job_set in (select job_set from ahead where begins)
        and job_set <> (select job_set from asking))::int as ahead_portless,
      (select count(*) from portless where job_set = (
        select job_set from ahead where begins order by created_at, id limit 1))::int as first_portless,
      (select place from port_places where id = ${id})::int as port_place,
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

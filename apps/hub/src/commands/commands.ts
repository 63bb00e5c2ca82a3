/**
 * Commands of people to gateways. Each is a row with an expiry before anything is sent; it is sent once at most, and
 * its outcome is written into the row. A command that cannot be sent in time expires: the gateway counts the
 * rest of its time by its own clock from a ticket that it gave (packages/contract/src/gateway-door.ts), and here both
 * the wall clock and one that never jumps must allow it. A restart of the hub ends commands on their way.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  COMMAND_LIFETIME_MS,
  command,
  doorCalls,
  learningUndo,
  namesUndo,
  snoozeOrder,
  type Command,
  type CommandAction,
  type DisarmTime,
  type DoorCommand,
  type DoorOutcome,
  type Fact,
  type LearningUndo,
  type SnoozeOrder,
} from '@hedgerow/contract'
import { base32 } from '@hedgerow/enrolment'
import { randomBytes } from 'node:crypto'
import type { Kysely, Selectable } from 'kysely'
import type { Logger } from 'pino'
import { findGateway } from '../access/objects.ts'
import { scopeOf } from '../access/scope.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { nameOf, record, type Act } from '../facts/facts.ts'
import {
  DoorStatus,
  isWithoutDoor,
  requireDoor,
  type DoorGateway,
  type GatewayDoor,
} from '../gateway-door/gateway-door.ts'
import { HubError } from '../kernel/hub-error.ts'

type Row = Selectable<Tables['commands']>
type CommandRequest = {
  gatewayId: string
  action: CommandAction
  deterrent?: string | undefined
  seconds?: number | undefined
  learning?: LearningUndo | undefined
  names?: Command['names']
  /** What goes to the gateway with a `use-names`; it is not kept. */
  learned?: DoorCommand['learned']
  lasts?: DisarmTime | undefined
  snooze?: SnoozeOrder | undefined
}
type End = Pick<Row, 'state' | 'code' | 'message'>

export type Commands = {
  /** Resolves when the command has ended. Throws `gateway_not_found` and `gateway_takes_no_commands`. */
  give(asked: CommandRequest, act: Act): Promise<Command>
  /** Ends commands that were on their way when the hub stopped. */
  start(): Promise<void>
  stop(): Promise<void>
}

const TICKET_TIMEOUT_MS = 5_000
const RETRY_PAUSE_MS = 250
/** How long a device may take to answer after it took the command. */
const OUTCOME_TIMEOUT_MS = 20_000
const COMMANDS_SHOWN = 20
const WITHOUT_END = 'Its agent is older and knows no end: it stays disarmed until somebody arms it.'

export function createCommands(options: {
  db: Kysely<Tables>
  door: Pick<GatewayDoor, 'call'>
  clock: () => number
  log: Logger
  /** Milliseconds of a clock that never jumps. */
  monotonic?: () => number
}): Commands {
  const { db, door, clock, log, monotonic = () => performance.now() } = options
  const stopping = new AbortController()
  /** Commands that may still switch something on, by gateway: a stop ends them. */
  const onTheWay = new Map<string, Set<AbortController>>()
  const running = new Set<Promise<unknown>>()

  async function give(asked: CommandRequest, act: Act): Promise<Command> {
    if (stopping.signal.aborted) throw new HubError('internal_error')
    const isStop = asked.action === 'stop' || asked.action === 'disarm'
    // Known from the first moment: a stop may be written down sooner than what was given before it.
    const overtaken = new AbortController()
    const others = onTheWay.get(asked.gatewayId) ?? new Set()
    if (!isStop) onTheWay.set(asked.gatewayId, others.add(overtaken))
    try {
      const gateway = await findGateway(db, scopeOf(act.actor), asked.gatewayId)
      requireDoor(gateway)
      if (isStop) for (const other of onTheWay.get(gateway.id) ?? []) other.abort()
      const deadline = monotonic() + COMMAND_LIFETIME_MS
      const row = await insert(asked, gateway.name, act)
      const remaining = () => Math.floor(Math.min(row.expires_at - clock(), deadline - monotonic()))
      const signal = AbortSignal.any([stopping.signal, overtaken.signal])
      const { learned } = asked
      const end = await carryOut(row, { gateway, remaining, signal, mayRepeat: isStop, learned })
      return toCommand(await finish(row, end, gateway.name))
    } finally {
      others.delete(overtaken)
      if (others.size === 0 && onTheWay.get(asked.gatewayId) === others) onTheWay.delete(asked.gatewayId)
    }
  }

  async function insert(asked: CommandRequest, name: string, { actor, sourceIp, now }: Act) {
    const row: Row = {
      id: base32(randomBytes(10)).toLowerCase(),
      gateway_id: asked.gatewayId,
      action: asked.action,
      deterrent: asked.deterrent ?? null,
      seconds: asked.seconds ?? null,
      lasts: asked.lasts ?? null,
      snooze: JSON.stringify(asked.snooze) ?? null,
      learning: JSON.stringify(asked.learning ?? asked.names) ?? null,
      by_id: actor.userId,
      by_name: nameOf(actor),
      source_ip: sourceIp,
      state: 'waiting',
      code: null,
      message: '',
      created_at: now,
      expires_at: now + COMMAND_LIFETIME_MS,
      ended_at: null,
    }
    await inTransaction(db, async (transaction) => {
      await transaction.insertInto('commands').values(row).execute()
      await record(transaction, { kind: 'command.given', ...aboutOf(row, now), data: dataOf(row, name) })
    })
    return row
  }

  /**
   * Asks for a ticket until the gateway gives one, then sends once; a stop may be sent again. An older agent, which
   * knows no end of a disarming, disarms without one: that is the safe side.
   */
  async function carryOut(
    row: Row,
    way: {
      gateway: DoorGateway
      remaining(): number
      signal: AbortSignal
      mayRepeat: boolean
      learned: DoorCommand['learned']
      isOlder?: boolean
    },
  ): Promise<End> {
    const { gateway, remaining, signal, learned } = way
    let failure = 'it does not answer'
    let wasSent = false
    while (remaining() > 0 && !signal.aborted) {
      try {
        const timeoutMs = Math.min(remaining(), TICKET_TIMEOUT_MS)
        const { ticket } = await door.call(gateway, doorCalls.giveTicket, { timeoutMs, signal })
        if (!wasSent && !(await markSent(row))) break
        const withinMs = remaining()
        if (withinMs <= 0) break
        wasSent = true
        const sent = await send(way.isOlder ? { ...row, lasts: null } : row, {
          gateway,
          ticket,
          withinMs,
          signal,
          learned,
        })
        return endOf(sent, way)
      } catch (error) {
        failure = (error instanceof Error ? error.message : String(error)).replace(/\.$/, '')
        if (error instanceof DoorStatus && error.status === 400 && row.lasts !== null && !way.isOlder) {
          way.isOlder = true
          continue
        }
        if (error instanceof DoorStatus && error.status === 400 && wasSent)
          return {
            state: 'refused',
            code: 'not_understood',
            message: 'The agent does not know this command: update it.',
          }
        if (wasSent && !way.mayRepeat) break
        if (isWithoutDoor(error) && !wasSent)
          return {
            state: 'refused',
            code: 'no_door',
            message: 'The agent of this gateway takes no commands: update it.',
          }
        // The hub itself dials nobody while its VPN is off.
        if (error instanceof HubError) break
        await sleep(Math.min(RETRY_PAUSE_MS, Math.max(0, remaining())), undefined, { signal }).catch(() => {})
      }
    }
    if (signal.aborted) failure = stopping.signal.aborted ? 'the hub stops' : 'a stop came first'
    return wasSent
      ? { state: 'unknown', code: null, message: `Sent, but no answer came: ${failure}.` }
      : { state: 'expired', code: null, message: `Not carried out: ${failure}.` }
  }

  function send(
    row: Row,
    {
      gateway,
      ticket,
      withinMs,
      signal,
      learned,
    }: Pick<DoorCommand, 'ticket' | 'withinMs' | 'learned'> & { gateway: DoorGateway; signal: AbortSignal },
  ): Promise<DoorOutcome> {
    const body = {
      ticket,
      withinMs,
      action: row.action,
      by: row.by_name,
      ...(row.deterrent !== null && { deterrent: row.deterrent }),
      ...(row.seconds !== null && { seconds: row.seconds }),
      learning: learningOf(row) ?? undefined,
      ...(row.action === 'undo-names' && { names: namesUndo.parse(namesOf(row)) }),
      ...(learned && { learned }),
      ...(row.lasts !== null && { lasts: row.lasts }),
      snooze: snoozeOf(row) ?? undefined,
    }
    const timeoutMs = withinMs + OUTCOME_TIMEOUT_MS
    return door.call(gateway, doorCalls.carryOut, { timeoutMs, signal, body })
  }

  /** False when the row is no longer waiting: then nothing is sent. */
  async function markSent(row: Row): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('commands')
      .set({ state: 'sent' })
      .where('id', '=', row.id)
      .where('state', '=', 'waiting')
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  }

  async function finish(row: Row, end: End, gatewayName: string): Promise<Row> {
    const now = clock()
    const ended = { ...row, ...end, ended_at: now }
    await inTransaction(db, async (transaction) => {
      await transaction
        .updateTable('commands')
        .set({ ...end, ended_at: now })
        .where('id', '=', row.id)
        .execute()
      const data = { ...dataOf(row, gatewayName), ...end }
      await record(transaction, { kind: 'command.ended', ...aboutOf(row, now), data })
    })
    return ended
  }

  return {
    give(asked, act) {
      const given = give(asked, act)
      const settled = given.catch(() => {})
      running.add(settled)
      void settled.finally(() => running.delete(settled))
      return given
    },
    async start() {
      const left = await db
        .selectFrom('commands')
        .leftJoin('gateways', 'gateways.id', 'commands.gateway_id')
        .selectAll('commands')
        .select('gateways.name')
        .where('commands.state', 'in', ['waiting', 'sent'])
        .execute()
      for (const { name, ...row } of left)
        await finish(
          row,
          row.state === 'sent'
            ? { state: 'unknown', code: null, message: 'Sent, but the hub stopped before an answer came.' }
            : { state: 'expired', code: null, message: 'Not carried out: the hub stopped.' },
          name ?? row.gateway_id,
        )
      if (left.length > 0) log.warn({ commands: left.length }, 'commands were on their way when the hub stopped')
    },
    async stop() {
      stopping.abort()
      await Promise.all(running)
    },
  }
}

/** The newest commands of a gateway, newest first. */
export async function listCommands(db: Db, gatewayId: string): Promise<Command[]> {
  const rows = await db
    .selectFrom('commands')
    .selectAll()
    .where('gateway_id', '=', gatewayId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(COMMANDS_SHOWN)
    .execute()
  return rows.map(toCommand)
}

function endOf({ outcome, code, message = '' }: DoorOutcome, { isOlder = false }: { isOlder?: boolean }): End {
  if (isOlder && outcome === 'done') return { state: 'done', code: 'without_end', message: WITHOUT_END }
  const isLate = outcome === 'refused' && code === 'expired'
  return { state: isLate ? 'expired' : outcome, code: code ?? null, message }
}

function aboutOf(row: Row, at: number): Pick<Fact, 'at' | 'actor' | 'target' | 'gatewayId'> {
  const { by_name: name, by_id: userId, source_ip: sourceIp } = row
  // A program such as Home Assistant has neither a user id nor an address.
  const actor = { name, ...(userId !== '' && { userId }), ...(sourceIp !== '' && { sourceIp }) }
  return { at, actor, target: row.id, gatewayId: row.gateway_id }
}

function dataOf(row: Row, gatewayName: string) {
  const { action, deterrent, seconds } = row
  return {
    action,
    deterrent,
    seconds,
    snooze: snoozeOf(row),
    learning: learningOf(row),
    names: namesOf(row),
    gatewayName,
  }
}

/** The column `learning` has what each action about learning is about. */
function learningOf({ action, learning }: Row): LearningUndo | null {
  return learning === null || action !== 'undo-learning' ? null : learningUndo.parse(JSON.parse(learning))
}

function namesOf({ action, learning }: Row): Command['names'] {
  const isOfNames = action === 'undo-names' || action === 'use-names'
  return learning === null || !isOfNames ? null : command.shape.names.parse(JSON.parse(learning))
}

function snoozeOf({ snooze }: Row): SnoozeOrder | null {
  return snooze === null ? null : snoozeOrder.parse(JSON.parse(snooze))
}

function toCommand(row: Row): Command {
  return {
    id: row.id,
    action: row.action,
    deterrent: row.deterrent,
    seconds: row.seconds,
    lasts: row.lasts,
    snooze: snoozeOf(row),
    learning: learningOf(row),
    names: namesOf(row),
    by: row.by_name,
    state: row.state,
    code: row.code,
    message: row.message,
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: new Date(row.expires_at).toISOString(),
    endedAt: row.ended_at === null ? null : new Date(row.ended_at).toISOString(),
  }
}

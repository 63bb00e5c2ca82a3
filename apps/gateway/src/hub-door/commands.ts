/**
 * The hub's commands to deterrents and to learning. Each is carried out once at most and never late: it needs a ticket
 * of this process, and its time is counted from the ticket by a monotonic clock, so neither a slow path nor a jump of
 * the wall clock can extend it. After a stop or disarm, earlier tickets fire and arm nothing: a command that a stop
 * overtook is refused.
 */
import { randomUUID } from 'node:crypto'
import {
  COMMAND_LIFETIME_MS,
  type DisarmTime,
  type DoorCommand,
  type DoorOutcome,
  type SnoozeOrder,
} from '@hedgerow/contract'
import type { Learning } from '../learning/learning.ts'

type Person = { kind: 'person'; name: string; via: 'hub' }

/** The deterrents as the door uses them; their own limits decide what is carried out. */
export type CommandedDeterrents = {
  fire(request: {
    deterrent: string
    seconds?: number | undefined
    by: Person
  }): Promise<{ firing: { seconds: number } } | { refused: string; message: string }>
  stop(deterrent: string | undefined, by: Person): Promise<void>
  arm(by: Person): Promise<boolean>
  disarm(by: Person, lasts?: DisarmTime): Promise<void>
  snooze(by: Person, order: SnoozeOrder): Promise<boolean>
  endSnooze(by: Person, order: SnoozeOrder): Promise<boolean>
}

export type CommandedLearning = Pick<Learning, 'undo' | 'begin'> & { names: Pick<Learning['names'], 'undo' | 'use'> }

export type Commands = {
  issueTicket(): string
  carryOut(command: DoorCommand): Promise<DoorOutcome>
}

/** The hub asks for a ticket right before it sends a command, so no more than these are ever open. */
const TICKETS_MAX = 64

const EXPIRED: DoorOutcome = {
  outcome: 'refused',
  code: 'expired',
  message: 'The command came too late, or a stop came first. It was not carried out.',
}

const NOT_ARMED: DoorOutcome = {
  outcome: 'refused',
  code: 'not_armed',
  message: 'The device cannot write to its disk, so it stays disarmed.',
}

const TOO_MANY_SNOOZES: DoorOutcome = {
  outcome: 'refused',
  code: 'too_many_snoozes',
  message: 'Too many cameras are snoozed: end one first.',
}

const NOT_SNOOZED: DoorOutcome = {
  outcome: 'refused',
  code: 'not_snoozed',
  message: 'It is not snoozed any more.',
}

const NOTHING_TO_UNDO: DoorOutcome = {
  outcome: 'refused',
  code: 'nothing_to_undo',
  message: 'No version is active there, or it cannot go back to the one that was named.',
}

export function createCommands(options: {
  deterrents: CommandedDeterrents
  learning: CommandedLearning
  /** Milliseconds of a clock that never jumps. */
  monotonic?: () => number
}): Commands {
  const { deterrents, learning, monotonic = () => performance.now() } = options
  const tickets = new Map<string, { issuedAt: number; stops: number }>()
  /** The number of stops so far. */
  let stops = 0

  function takeTicket({ ticket, withinMs, action }: DoorCommand): boolean {
    const issued = tickets.get(ticket)
    tickets.delete(ticket)
    if (!issued || monotonic() - issued.issuedAt > Math.min(withinMs, COMMAND_LIFETIME_MS)) return false
    return isStop(action) || issued.stops === stops
  }

  function useNames({ learned }: DoorCommand): DoorOutcome {
    const why = learned ? learning.names.use(learned.head, learned.from) : 'The command has no names.'
    return why === undefined ? { outcome: 'done' } : { outcome: 'refused', code: 'names_unfit', message: why }
  }

  return {
    issueTicket() {
      const ticket = randomUUID()
      tickets.set(ticket, { issuedAt: monotonic(), stops })
      for (const oldest of tickets.keys()) {
        if (tickets.size <= TICKETS_MAX) break
        tickets.delete(oldest)
      }
      return ticket
    },
    async carryOut(command) {
      if (!takeTicket(command)) return EXPIRED
      const { action, deterrent, seconds, by: name } = command
      const by: Person = { kind: 'person', name, via: 'hub' }
      if (isStop(action)) stops += 1
      if (action === 'stop') await deterrents.stop(deterrent, by)
      else if (action === 'arm') {
        if (!(await deterrents.arm(by))) return NOT_ARMED
      } else if (action === 'disarm') await deterrents.disarm(by, command.lasts)
      else if (action === 'snooze' && command.snooze) {
        if (!(await deterrents.snooze(by, command.snooze))) return TOO_MANY_SNOOZES
      } else if (action === 'end-snooze' && command.snooze) {
        if (!(await deterrents.endSnooze(by, command.snooze))) return NOT_SNOOZED
      } else if (action === 'undo-learning')
        return command.learning && learning.undo(command.learning, name) ? { outcome: 'done' } : NOTHING_TO_UNDO
      else if (action === 'undo-names')
        return command.names && learning.names.undo(command.names.number, name) ? { outcome: 'done' } : NOTHING_TO_UNDO
      else if (action === 'use-names') return useNames(command)
      else if (action === 'learn-now') {
        learning.begin()
        return { outcome: 'done', message: 'It learns now.' }
      } else if (deterrent === undefined)
        return { outcome: 'refused', code: 'unknown_deterrent', message: 'The command names no deterrent.' }
      else {
        const answer = await deterrents.fire({ deterrent, seconds, by })
        return 'refused' in answer
          ? { outcome: 'refused', code: answer.refused, message: answer.message }
          : { outcome: 'done', message: `On for ${answer.firing.seconds} s.` }
      }
      return { outcome: 'done' }
    },
  }
}

function isStop(action: DoorCommand['action']): boolean {
  return action === 'stop' || action === 'disarm'
}

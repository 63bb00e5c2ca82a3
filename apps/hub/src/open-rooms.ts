import type { Kysely } from 'kysely'
import type { Tables } from './database/tables.ts'
import { factsOf } from './facts/facts.ts'
import type { App, Room } from './facts/room.ts'

type Open<Hub, Gives> = (hub: Hub) => (Room & { gives?: Gives }) | Promise<Room & { gives?: Gives }>
type Rooms<Base, Hub> = {
  /** The compiler refuses a room that needs what no earlier one gives. */
  add<Gives extends object>(open: Open<Hub, Gives>): Rooms<Base, Hub & Gives>
  /** Resolves with what all rooms gave. Disposing `stack` takes them down in reverse. */
  open(base: Base, stack: AsyncDisposableStack): Promise<Hub & { onListening(): Promise<void> }>
}

export function listRooms<Base extends object, Hub = Base>(
  opens: readonly Open<never, object>[] = [],
): Rooms<Base, Hub> {
  return {
    add: (open) => listRooms([...opens, open]),
    async open(base, stack) {
      const rooms: Room[] = []
      const hub = { ...base, onListening: () => inOrder(rooms.map((room) => room.onListening)) }
      const started = new Set<object>()
      for (const open of opens) {
        const room = await open(hub as never)
        rooms.push(room)
        stack.defer(async () => void (await room.stop?.()))
        for (const task of room.tasks ?? [])
          stack.defer(async () => void ((!task.start || started.has(task)) && (await task.stop())))
        Object.assign(hub, room.gives)
        const { db } = hub as unknown as { db: Kysely<Tables> }
        for (const follower of room.follows ?? []) factsOf(db).follow(follower)
      }
      const { app } = hub as unknown as { app: App }
      await inOrder(rooms.map((room) => () => room.routes?.(app)))
      for (const task of rooms.flatMap(({ tasks = [] }) => tasks)) {
        await task.start?.()
        started.add(task)
      }
      return hub as unknown as Hub & typeof hub
    },
  }
}

async function inOrder(steps: readonly ((() => unknown) | undefined)[]): Promise<void> {
  for (const step of steps) await step?.()
}

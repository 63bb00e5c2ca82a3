/** How many pictures went to the endpoint today (UTC), for each gateway and in all. It holds over restarts. */
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'

export type SpendingLimits = { perGateway: number; inAll: number }

export type Spending = {
  /** False when the gateway, or all together, have spent their pictures of the day. Committed when it resolves. */
  take(gatewayId: string): Promise<boolean>
  /** When the next day begins, in milliseconds from now. */
  untilNextDayMs(): number
}

type Day = { name: string; all: number; byGateway: Map<string, number> }

const DAY_MS = 86_400_000

export function createSpending(db: Kysely<Tables>, limits: SpendingLimits, clock: () => number): Spending {
  let today: Promise<Day> | undefined
  let named: string | undefined

  async function read(name: string): Promise<Day> {
    await db.deleteFrom('second_looks').where('day', '<', name).execute()
    const rows = await db.selectFrom('second_looks').selectAll().where('day', '=', name).execute()
    const byGateway = new Map(rows.map(({ gateway_id: id, pictures }) => [id, pictures]))
    return { name, all: rows.reduce((sum, { pictures }) => sum + pictures, 0), byGateway }
  }

  /** A clock that is set back stays in the later day: a day is never spent twice. */
  async function dayNow(): Promise<Day> {
    const name = new Date(clock()).toISOString().slice(0, 10)
    if (!today || named === undefined || name > named) {
      named = name
      today = read(name)
      // The next call reads it again.
      today.catch(() => (today = undefined))
    }
    return today
  }

  return {
    async take(gatewayId) {
      const day = await dayNow()
      const own = day.byGateway.get(gatewayId) ?? 0
      if (own >= limits.perGateway || day.all >= limits.inAll) return false
      // Counted before it is stored, so that concurrent calls see each other.
      day.byGateway.set(gatewayId, own + 1)
      day.all += 1
      await db
        .insertInto('second_looks')
        .values({ day: day.name, gateway_id: gatewayId, pictures: 1 })
        .onConflict((conflict) =>
          conflict
            .columns(['day', 'gateway_id'])
            .doUpdateSet((row) => ({ pictures: row('second_looks.pictures', '+', 1) })),
        )
        .execute()
      return true
    },
    untilNextDayMs: () => DAY_MS - (clock() % DAY_MS),
  }
}

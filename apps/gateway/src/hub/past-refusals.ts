import { mayBeOfContent } from '../kernel/http-call.ts'

/** So many parts may be refused before one is accepted. */
const REFUSED_PARTS_MAX = 40

/** Sends a part of the items; false when nothing of it has to be sent. Rejects when the hub does not take it. */
type Send<T> = (part: T[]) => Promise<boolean>

/**
 * Sends items past those that the hub refuses for a reason that may be theirs: what waits behind must not wait for
 * ever. Returns the items that were refused by themselves. They are given up only when the hub accepted others
 * meanwhile, those that wait behind included; a hub or a proxy that refuses everything gets all of them again. So this
 * rejects while nothing is accepted, and at any other failure.
 */
export async function sendPastRefusals<T>(
  items: T[],
  { send, following }: { send: Send<T>; following(): Promise<T[]> },
): Promise<T[]> {
  try {
    return await sendInParts(items, send, false)
  } catch (error) {
    if (!mayBeOfContent(error)) throw error
    const behind = await following()
    if (behind.length === 0) throw error
    let isAnyAccepted = false
    await sendInParts(
      behind,
      async (part) => {
        const isSent = await send(part)
        isAnyAccepted ||= isSent
        return isSent
      },
      false,
    )
    if (!isAnyAccepted) throw error
    return sendInParts(items, send, true)
  }
}

/** Halves what is refused, the larger parts first. */
async function sendInParts<T>(items: T[], send: Send<T>, isProven: boolean): Promise<T[]> {
  const parts = [items]
  const refused: T[] = []
  let isAnyAccepted = isProven
  let failures = 0
  let failure: unknown
  for (let part = parts.shift(); part; part = parts.shift()) {
    try {
      if (await send(part)) isAnyAccepted = true
    } catch (error) {
      if (!mayBeOfContent(error)) throw error
      failure = error
      failures++
      if (!isAnyAccepted && failures > REFUSED_PARTS_MAX) throw error
      const half = Math.ceil(part.length / 2)
      if (part.length === 1) refused.push(...part)
      else parts.push(part.slice(0, half), part.slice(half))
    }
  }
  if (refused.length > 0 && !isAnyAccepted) throw failure
  return refused
}

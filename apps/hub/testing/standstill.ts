const ROUND_TRIPS = 25
const PAUSE_MS = 10

/**
 * Waits until `progress` stays the same over many round trips through the same hub. Then the hub had its turns and
 * moved nothing: the transfer waits for the reader, not for the machine. Returns the last `progress`.
 */
export async function standstill(progress: () => number, roundTrip: () => Promise<unknown>): Promise<number> {
  let seen = progress()
  for (let still = 0; still < ROUND_TRIPS; still++) {
    await roundTrip()
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    if (progress() === seen) continue
    seen = progress()
    still = -1
  }
  return seen
}

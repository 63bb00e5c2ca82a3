const AGAIN_AFTER_MS = 1_000

/**
 * Asks who somebody is, and a second time when the hub did not decide. Without this, whoever left or reloaded a page
 * while it asked would be signed out: a browser ends the requests of a page that is left, but runs no more of its
 * timers.
 */
export async function askTwice<T>(ask: () => Promise<T>, isUndecided: (error: unknown) => boolean): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!isUndecided(error)) throw error
    await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
    return ask()
  }
}

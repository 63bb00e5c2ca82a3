const PAUSE_MS = 1_000

/**
 * Asks who somebody is, and a second time when the hub did not decide. A pause follows each question, because a browser
 * ends the requests of a page that is left, but runs no more of its timers: without it, whoever left or reloaded a page
 * while it asked would be signed out.
 */
export async function askTwice<T>(attempt: () => Promise<T>, isUndecided: (error: unknown) => boolean): Promise<T> {
  for (let questions = 1; ; questions++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isUndecided(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      if (questions === 2) throw error
    }
  }
}

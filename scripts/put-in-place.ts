import { rename, rm } from 'node:fs/promises'

/**
 * Moves a folder that is whole to `place`, instead of the one that is there: nobody finds half of it, also when two
 * programs build it at once. Both are in one file system.
 */
export async function putInPlace(made: string, place: string): Promise<void> {
  const old = `${made}.old`
  for (;;) {
    await rename(place, old).catch(unlessMissing)
    try {
      await rename(made, place)
      break
    } catch (error) {
      // Another program was faster; its folder is replaced too.
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) throw error
      await rm(old, { recursive: true, force: true })
    }
  }
  await rm(old, { recursive: true, force: true })
}

function unlessMissing(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) throw error
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
